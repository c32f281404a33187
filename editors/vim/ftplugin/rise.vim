if exists('b:did_ftplugin')
  finish
endif
let b:did_ftplugin = 1

setlocal comments=:--\|,:-- commentstring=--\ %s
setlocal expandtab shiftwidth=2 softtabstop=2 textwidth=100
setlocal formatoptions-=t formatoptions+=croql
setlocal suffixesadd=.rise
" A definition of this file, and `import "file.rise"`.
setlocal define=^\\(def\\\|entry\\\|operator\\\|rule\\\|strategy\\)\\s
setlocal include=^import\\s\\+"

if executable('risec')
  setlocal formatprg=risec\ fmt\ -
  setlocal makeprg=risec\ check\ %:S
  setlocal errorformat=%f:%l:%c:\ %trror[%m,%f:%l:%c:\ %tarning[%m
endif

let b:undo_ftplugin = 'setlocal comments< commentstring< expandtab< shiftwidth< softtabstop<'
      \ . ' textwidth< formatoptions< suffixesadd< define< include< formatprg< makeprg<'
      \ . ' errorformat<'
