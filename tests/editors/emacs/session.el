;;; session.el --- One session of eglot in batch, told by the environment  -*- lexical-binding: t; -*-

;; Usage: emacs --batch -l session.el FILE FIRST LAST TITLE SEEN
;; Opens FILE, selects the lines FIRST to LAST (from 1), runs the code action whose title holds TITLE, waits for the
;; turn's end, then writes what a person would have seen into the file SEEN, as JSON: the actions offered, the text
;; after the turn, the text after one undo, what was said.
;; Questions are asked on standard input (batch.el).

;;; Code:

(load (expand-file-name "batch.el" (file-name-directory load-file-name)))

(defvar session-ended nil "The turn's end, once it has come.")

(pcase-let* ((`(,file ,first ,last ,title ,seen) command-line-args-left)
             (eglot-autoshutdown nil)
             (eglot-sync-connect 20))
  (setq command-line-args-left nil)
  (find-file file)
  (buffer-enable-undo)
  (apply #'eglot (eglot--guess-contact))
  (let* ((server (eglot-current-server))
         (actions (eglot-code-actions (session-line (string-to-number first))
                                      (session-line (1+ (string-to-number last)))))
         (chosen (seq-filter (lambda (action) (string-search title (plist-get action :title))) actions)))
    (unless (= 1 (length chosen))
      (error "%S is not one of %S" title (mapcar (lambda (action) (plist-get action :title)) actions)))
    (undo-boundary)
    (let ((turn (eglot--read-execute-code-action chosen server t)))
      ;; This eglot shows no progress, so the turn is waited for.
      (jsonrpc-async-request server :workspace/executeCommand
                             `(:command "tark.turn.wait" :arguments [(:turnId ,(plist-get turn :turnId))])
                             :success-fn (lambda (end) (setq session-ended end))
                             :timeout 60))
    (session-wait 20 (lambda () session-ended))
    (eglot-execute-command server 'tark.state [])  ; what was said at the end has come, too
    (let ((after (session-text)))
      (setq last-command nil)
      (undo-boundary)
      (ignore-errors (undo))
      (let ((told `((titles . ,(vconcat (mapcar (lambda (action) (plist-get action :title)) actions)))
                    (after . ,after)
                    (undone . ,(session-text))
                    (said . ,(vconcat (reverse session-said)))))
            (coding-system-for-write 'utf-8))
        (write-region (json-serialize told) nil seen))
      (set-buffer-modified-p nil)
      (eglot-shutdown server))))

;;; session.el ends here
