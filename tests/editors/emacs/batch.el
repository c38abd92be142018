;;; batch.el --- What a session of eglot in batch needs  -*- lexical-binding: t; -*-

;; Questions are asked on standard input, as always in batch.

;;; Code:

;; The advice below makes Emacs compile a native `message', once for all sessions in this folder.
(when (boundp 'native-comp-eln-load-path)
  (push (file-name-as-directory (getenv "ELN_CACHE")) native-comp-eln-load-path))

;; As in an init file: the recipe of README.md, before eglot is loaded.
(package-initialize)
(load (getenv "RECIPE"))
(require 'eglot)
(require 'json)

(defvar session-said nil "What `message' showed, the newest first.")

(advice-add 'message :before
            (lambda (format &rest arguments)
              (when format (push (apply #'format format arguments) session-said))))

(defun session-wait (seconds done)
  "Wait at most SECONDS until DONE returns non-nil.
Emacs in batch never idles, so what waits for it to be idle (eglot's
didChange above all) is run here, as half a second without a key would."
  (let ((end (+ (float-time) seconds)))
    (while (not (or (funcall done) (> (float-time) end)))
      (accept-process-output nil 0.5)
      (mapc #'timer-event-handler (copy-sequence timer-idle-list)))
    (or (funcall done) (error "Not within %s s: %S" seconds session-said))))

(defun session-line (number)
  "The position where line NUMBER begins."
  (save-excursion (goto-char (point-min)) (forward-line (1- number)) (point)))

(defun session-text ()
  "The text of the buffer."
  (buffer-substring-no-properties (point-min) (point-max)))

(provide 'batch)

;;; batch.el ends here
