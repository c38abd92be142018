;;; review.el --- Review hunks of two files with eglot in batch  -*- lexical-binding: t; -*-

;; Usage: emacs --batch -l review.el FILE OTHER SEEN
;; Runs the tark: comment in the first line of FILE, has the change shown and leaves the question after that alone.
;; Then accepts and rejects what Flymake lists in both buffers, by code action, and takes one accept back by undo.
;; Writes what a person would have seen into the file SEEN, as JSON.

;;; Code:

(load (expand-file-name "batch.el" (file-name-directory load-file-name)))
(require 'flymake)

(defvar review-questions 0 "How many questions the server asked by now.")
(advice-add 'completing-read :before (lambda (&rest _) (setq review-questions (1+ review-questions))))

(defvar review-decided nil "What was decided where, the newest first.")
(defvar review-slowest 0.0 "The seconds that the slowest code action took.")

(defun review-listed ()
  "The lines and words of Flymake's list for the current buffer, in order."
  (mapcar (lambda (diagnostic)
            (cons (line-number-at-pos (flymake-diagnostic-beg diagnostic)) (flymake-diagnostic-text diagnostic)))
          (sort (flymake-diagnostics) (lambda (one other)
                                        (< (flymake-diagnostic-beg one) (flymake-diagnostic-beg other))))))

(defun review-expect (count)
  "Wait until Flymake lists COUNT hunks in the current buffer."
  (session-wait 20 (lambda () (flymake-start) (= count (length (review-listed))))))

(defun review-decide (word)
  "Run the code action that begins with WORD at the first hunk listed; Flymake then lists one less."
  (let* ((listed (review-listed))
         (line (caar listed))
         (start (session-line line))
         (actions (eglot-code-actions start start))
         (chosen (seq-filter (lambda (action) (string-prefix-p (concat word " (") (plist-get action :title))) actions))
         (began (float-time)))
    (unless (= 1 (length chosen))
      (error "%S is not one of %S" word (mapcar (lambda (action) (plist-get action :title)) actions)))
    (undo-boundary)
    (eglot--read-execute-code-action chosen (eglot-current-server) t)
    (undo-boundary)
    (setq review-slowest (max review-slowest (- (float-time) began)))
    (push (format "%s %s %d: %s" word (buffer-name) line (cdar listed)) review-decided)
    (review-expect (1- (length listed)))))

(pcase-let* ((`(,file ,other ,seen) command-line-args-left)
             (eglot-autoshutdown nil)
             (eglot-sync-connect 20))
  (setq command-line-args-left nil)
  (find-file file)
  (buffer-enable-undo)
  (apply #'eglot (eglot--guess-contact))
  (let* ((server (eglot-current-server))
         (actions (eglot-code-actions (point-min) (point-min)))
         (run (seq-filter (lambda (action) (string-prefix-p "Run: " (plist-get action :title))) actions)))
    (eglot--read-execute-code-action run server t)
    (setq review-questions 0)
    (session-wait 20 (lambda () (>= review-questions 2)))
    (review-expect 3)
    (review-decide "Accept")
    (review-decide "Accept")
    (review-decide "Reject")
    (let ((first (session-text)))
      (find-file other)
      (buffer-enable-undo)
      (review-expect 2)
      (review-decide "Accept")
      (review-decide "Reject")
      (let ((second (session-text)))
        (setq last-command nil)
        (undo-boundary)
        (undo)
        (let ((undone (session-text)))
          (set-buffer-modified-p nil)
          (switch-to-buffer (get-file-buffer file))
          (setq last-command nil)
          (undo-boundary)
          (undo)
          (let ((told `((decided . ,(vconcat (reverse review-decided)))
                        (first . ,first)
                        (second . ,second)
                        (second_undone . ,undone)
                        (first_undone . ,(session-text))
                        (slowest . ,review-slowest)
                        (said . ,(vconcat (reverse session-said)))))
                (coding-system-for-write 'utf-8))
            (write-region (json-serialize told) nil seen))
          (set-buffer-modified-p nil)
          (eglot-shutdown server))))))

;;; review.el ends here
