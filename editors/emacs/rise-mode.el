;;; rise-mode.el --- RISE programs for GPUs -*- lexical-binding: t -*-

;; Version: 0.2.0
;; Package-Requires: ((emacs "26.1"))
;; Keywords: languages

;;; Commentary:

;; Colours and indentation of RISE programs.  With Eglot (Emacs 29, or from GNU ELPA)
;; `M-x eglot' starts `risec lsp', which does the rest.

;;; Code:

(defgroup rise nil
  "RISE programs."
  :group 'languages)

(defcustom rise-risec "risec"
  "The compiler, whose language server Eglot starts."
  :type 'string)

(defconst rise--words
  '(;; words: keyword
    (keyword "def" "entry" "operator" "import" "rule" "strategy" "fun" "let" "in" "if" "then"
     "else" "where" "unroll" "and" "or" "not" "unit" "launch" "exact" "lowered" "by" "within"
     "expect" "accept" "for" "level" "at" "associative" "commutative")
    ;; words: primitive
    (primitive "id" "split" "splitDrop" "join" "transpose" "zip" "zip3" "zip4" "unzip" "take"
     "drop" "slide" "padCst" "padClamp" "padTo" "gather" "scatter" "scatterUnchecked"
     "scatterDrop" "reorder" "readOnce" "keepCached" "reverse" "stride" "concat" "generate"
     "readTogether" "asVector" "asScalar" "single" "index" "map" "reduce" "scan" "scanExcl"
     "reduceByIndex" "mapSeq" "mapSeqUnroll" "reduceSeq" "reduceSeqUnroll" "scanSeq"
     "scanSeqExcl" "iterate" "circularBuffer" "rotateValues" "mapGlobal" "mapBlock"
     "mapThreads" "mapWarp" "mapLane" "toGlobal" "toShared" "toPrivate" "shflDown" "shflUp"
     "shflXor" "shfl" "broadcast" "reduceWarp" "nextKernel" "lastBlock" "gridSync"
     "repeatKernels" "scanBlocks" "scanRowBlocks" "atomicReduce" "neg" "bitAnd" "bitOr"
     "bitXor" "shl" "shr" "popc" "clz" "min" "max" "abs" "sqrt" "rsqrt" "exp" "exp2" "log"
     "log2" "sin" "cos" "tan" "asin" "acos" "atan" "expm1" "log1p" "erf" "tanh" "floor" "ceil"
     "round" "fma" "pow" "cast" "select" "indexOr")
    ;; words: type
    (type "nat" "data" "num" "int" "float" "scalar" "idx" "vec" "bool" "i8" "i16" "i32" "i64"
     "u8" "u16" "u32" "u64" "f16" "bf16" "f32" "f64")
    ;; words: constant
    (constant "inf" "nan" "lowest" "highest" "true" "false")
    ;; words: function
    (function "ceilDiv" "pow2" "numSM" "maxResident" "halving" "toMem")
    ;; words: end
    )
  "The words of the language by their classes.")

(defconst rise--item "\\_<\\(?:def\\|entry\\|import\\|operator\\|rule\\|strategy\\)"
  "A regular expression for the word that begins an item.")

(defun rise--words-regexp (class)
  "A regular expression for the words of CLASS."
  (regexp-opt (cdr (assq class rise--words)) 'symbols))

(defconst rise--font-lock
  `(("^[ \t]*\\(--|\\(?:[^>\n].*\\)?\\)$" 1 font-lock-doc-face t)
    (,(rise--words-regexp 'keyword) . font-lock-keyword-face)
    (,(rise--words-regexp 'primitive) . font-lock-builtin-face)
    (,(rise--words-regexp 'type) . font-lock-type-face)
    (,(rise--words-regexp 'constant) . font-lock-constant-face)
    (,(rise--words-regexp 'function) . font-lock-builtin-face)
    (,(concat rise--item "[ \t]+\\([A-Za-z_][A-Za-z0-9_]*\\)") 1 font-lock-function-name-face))
  "What `font-lock-mode' shows.")

(defvar rise-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?_ "_" table)
    (modify-syntax-entry ?- ". 12" table)
    (modify-syntax-entry ?\n ">" table)
    (modify-syntax-entry ?\" "\"" table)
    (dolist (char '(?< ?> ?+ ?* ?/ ?% ?^ ?= ?# ?! ?|))
      (modify-syntax-entry char "." table))
    table)
  "Syntax of RISE.")

(defun rise-indent-line ()
  "Indent the line as far as the one before it, two columns more in a body."
  (interactive)
  (let ((column
         (save-excursion
           (beginning-of-line)
           (if (or (bobp) (looking-at (concat "[ \t]*" rise--item "\\_>")))
               0
             (forward-line -1)
             (while (and (not (bobp)) (looking-at "[ \t]*$"))
               (forward-line -1))
             (+ (current-indentation)
                (if (looking-at ".*\\(?:=\\|=>\\|[[(]\\)[ \t]*$") 2 0))))))
    (if (<= (current-column) (current-indentation))
        (indent-line-to column)
      (save-excursion (indent-line-to column)))))

;;;###autoload
(define-derived-mode rise-mode prog-mode "RISE"
  "Major mode for RISE programs."
  (setq-local comment-start "-- ")
  (setq-local comment-end "")
  (setq-local comment-start-skip "--+|?[ \t]*")
  (setq-local font-lock-defaults '(rise--font-lock))
  (setq-local indent-line-function #'rise-indent-line)
  (setq-local indent-tabs-mode nil)
  (setq-local fill-column 100)
  (setq-local compile-command
              (concat rise-risec " check "
                      (if buffer-file-name (shell-quote-argument buffer-file-name) "")))
  (setq-local imenu-generic-expression
              `((nil ,(concat "^" rise--item "[ \t]+\\([A-Za-z_][A-Za-z0-9_]*\\)") 1))))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.rise\\'" . rise-mode))

(defvar eglot-server-programs)
(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs
               `(rise-mode . ,(lambda (&rest _) (list rise-risec "lsp")))))

(provide 'rise-mode)
;;; rise-mode.el ends here
