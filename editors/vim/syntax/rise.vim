if exists('b:current_syntax')
  finish
endif

syn case match
syn iskeyword @,48-57,_

syn match riseName '\<[A-Za-z_]\w*\>'
syn match riseNumber '\<\d\+\w*'
syn match riseNumber '\<0x\x\+\w*'
syn match riseNumber '\<\d\+\.\d\+\d\@!\%(\.[A-Za-z0-9_(]\)\@!\w*'
syn match riseNumber '\<\d\+\(\.\d\+\)\=[eE][+-]\=\d\+\w*'
syn match riseNumber '\.\@<=\d\+\w*'
syn match riseOperator '[<>+*/%^=#-]'
syn match riseOperator '|>\|>>\|==\|=>\|->\|!=\|<=\|>=\|<+'
syn match riseSeparator '[,;:.]'
syn match riseBracket '[][(){}]'
syn region riseText start='"' end='"\|$'
syn match riseComment '--.*$' contains=@Spell
syn match riseDoc '^\s*--|>\@!.*$' contains=@Spell

" words: keyword
syn keyword riseKeyword def entry operator import rule strategy fun let in if then else where
syn keyword riseKeyword unroll and or not unit launch exact lowered by within expect accept
syn keyword riseKeyword for level at associative commutative
" words: primitive
syn keyword risePrimitive id split splitDrop join transpose zip zip3 zip4 unzip take drop slide
syn keyword risePrimitive padCst padClamp padTo gather scatter scatterUnchecked scatterDrop
syn keyword risePrimitive reorder readOnce keepCached reverse stride concat generate
syn keyword risePrimitive readTogether asVector asScalar single index map reduce scan scanExcl
syn keyword risePrimitive reduceByIndex mapSeq mapSeqUnroll reduceSeq reduceSeqUnroll scanSeq
syn keyword risePrimitive scanSeqExcl iterate circularBuffer rotateValues mapGlobal mapBlock
syn keyword risePrimitive mapThreads mapWarp mapLane toGlobal toShared toPrivate shflDown shflUp
syn keyword risePrimitive shflXor shfl broadcast reduceWarp nextKernel lastBlock gridSync
syn keyword risePrimitive repeatKernels scanBlocks scanRowBlocks atomicReduce neg bitAnd bitOr
syn keyword risePrimitive bitXor shl shr popc clz min max abs sqrt rsqrt exp exp2 log log2 sin
syn keyword risePrimitive cos tan asin acos atan expm1 log1p erf tanh floor ceil round fma pow
syn keyword risePrimitive cast select indexOr
" words: type
syn keyword riseType nat data num int float scalar idx vec bool i8 i16 i32 i64 u8 u16 u32
syn keyword riseType u64 f16 bf16 f32 f64
" words: constant
syn keyword riseConstant inf nan lowest highest true false
" words: function
syn keyword riseFunction ceilDiv pow2 numSM maxResident halving toMem
" words: end

hi def link riseKeyword Keyword
hi def link risePrimitive Function
hi def link riseType Type
hi def link riseConstant Constant
hi def link riseFunction Special
hi def link riseNumber Number
hi def link riseText String
hi def link riseOperator Operator
hi def link riseSeparator Delimiter
hi def link riseBracket Delimiter
hi def link riseComment Comment
hi def link riseDoc SpecialComment

let b:current_syntax = 'rise'
