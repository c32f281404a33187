;;; emacs.el --- rise-mode in batch -*- lexical-binding: t -*-
;; Each word of each program has the face of its class; a formatted definition stays as it is.
;; RISEC, ROOT and FILES (a list of programs) are in the environment.

(require 'cl-lib)
(require 'bytecomp)

(defvar test-faces
  '((keyword . font-lock-keyword-face) (primitive . font-lock-builtin-face)
    (type . font-lock-type-face) (constant . font-lock-constant-face)
    (function . font-lock-builtin-face) (comment . font-lock-comment-face)
    (doc . font-lock-doc-face) (text . font-lock-string-face)))

(defun test-tokens (risec path)
  "The tokens of PATH as lists of line, column, class and text; nil where it does not parse."
  (with-temp-buffer
    (when (zerop (call-process risec nil '(t nil) nil "--emit=tokens" path))
      (goto-char (point-min))
      (let (tokens)
        (while (re-search-forward "^\\([0-9]+\\):\\([0-9]+\\) \\([a-z]+\\) \\(.*\\)$" nil t)
          (push (list (string-to-number (match-string 1)) (string-to-number (match-string 2))
                      (intern (match-string 3)) (match-string 4))
                tokens))
        (nreverse tokens)))))

(defun test-program (risec path)
  "How many words of PATH were looked at."
  (let ((count 0) (mark nil))
    (with-temp-buffer
      (let ((coding-system-for-read 'utf-8-unix))
        (insert-file-contents path))
      ;; Emacs hides a byte order mark.
      (goto-char (point-min))
      (when (setq mark (looking-at "\ufeff"))
        (delete-char 1))
      (rise-mode)
      (font-lock-ensure)
      (dolist (token (test-tokens risec path))
        (cl-destructuring-bind (line column class text) token
          (goto-char (point-min))
          (forward-line (1- line))
          (goto-char (byte-to-position (+ (position-bytes (point)) (1- column)
                                          (if (and mark (= line 1)) -3 0))))
          (let* ((wanted (cdr (assq class test-faces)))
                 (comment (memq class '(comment doc)))
                 (at (if comment (1- (line-end-position)) (point)))
                 (got (get-text-property at 'face)))
            (when (and wanted (or (not comment) (string-match-p "[^- |]\\'" text)))
              (setq count (1+ count))
              (unless (or (eq got wanted) (memq wanted (ensure-list got)))
                (error "%s:%d:%d: `%s' is %s, and has %s" path line column text class got)))))))
    count))

(defun test-indent ()
  "What `risec fmt' writes stays where it is."
  (with-temp-buffer
    (rise-mode)
    (insert "entry e {n: nat} (xs: n.f32): f32 =\nlet ys = xs |> map(f) in\n"
            "ys |> reduce((+), 0)\n\ndef a = 1\n")
    (indent-region (point-min) (point-max))
    (unless (equal (buffer-string)
                   (concat "entry e {n: nat} (xs: n.f32): f32 =\n  let ys = xs |> map(f) in\n"
                           "  ys |> reduce((+), 0)\n\ndef a = 1\n"))
      (error "Indentation: %s" (buffer-string)))))

(defun test-all ()
  "The test."
  (let ((root (getenv "ROOT")) (risec (getenv "RISEC")) (count 0))
    (let ((byte-compile-error-on-warn t)
          (byte-compile-dest-file-function (lambda (_) (make-temp-file "rise-mode"))))
      (unless (byte-compile-file (concat root "/editors/emacs/rise-mode.el"))
        (error "It does not compile without a warning")))
    (load (concat root "/editors/emacs/rise-mode.el") nil t)
    (test-indent)
    (dolist (path (with-temp-buffer
                    (insert-file-contents (getenv "FILES"))
                    (split-string (buffer-string) "\n" t)))
      (setq count (+ count (test-program risec path))))
    (princ (format "# emacs: %d words\n" count))
    (when (< count 1000)
      (error "Too few"))))

(condition-case problem
    (progn (test-all) (princ "ok editor-emacs\n"))
  (error (princ (format "not ok editor-emacs\n# %s\n" (error-message-string problem)))))
