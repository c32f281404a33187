"""Entries: what of a program can be called."""
from __future__ import annotations

import ctypes as c
import json
import sys
import threading
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from . import _arguments, _arrays, _cuda, _devices, _errors, _ffi
from ._arguments import Argument, Signature
from ._call import Call, Pool
from ._quick import MISS, Quick

if TYPE_CHECKING:
    from ._program import Program
    from ._reports import Plan, Profile, Trace

Shape = Tuple[int, ...]


class Options(NamedTuple):
    """How an entry is compiled."""

    settings: Tuple[Tuple[str, int], ...] = ()
    specialize: bool = False
    untuned: bool = False
    strategy: Optional[str] = None
    costs: Optional[str] = None


class Kernel(NamedTuple):
    """What a CUDA kernel needs. Numbers of the device are -1 on the simulator and the reference."""

    name: str
    threads: Tuple[int, int, int]  # of a block
    registers: int  # of a thread
    static_shared: int  # bytes of a block
    spills: int  # bytes of local memory of a thread
    max_threads: int
    index_bits: int


class Shapes(NamedTuple):
    """Sizes, and shapes of results, before anything runs."""

    sizes: Dict[str, int]
    results: Tuple[Shape, ...]


class Entry:
    """An entry of a program. Call it with arrays, in the order of the program or by name.

    The results are arrays of the library that the inputs are of: numpy, torch, CuPy; else
    `DeviceArray` in the memory of a GPU. A result without axes is a number of numpy, or an array
    without axes of torch or CuPy. Several results are a tuple.

    Nothing is converted or copied silently. Arrays in the memory of a GPU are used where they are,
    on the caller's stream, and the call returns before the kernels have run. Arrays of the host are
    copied to a GPU and back where the program's device is one; then the call waits.

    Any number of threads may call one entry at the same time.
    """

    def __init__(self, program: "Program", name: str, options: Options = Options()) -> None:
        self._program, self.name, self.options = program, name, options
        self._lock = threading.Lock()
        self._handles: Dict[int, Tuple[_devices.Context, c.c_void_p]] = {}
        self._known: Optional[Signature] = None
        self._pool = Pool()
        self._recorded: Dict[Any, List[Call]] = {}  # by the graph; their memory is the graph's
        self._quick: Optional[Quick] = None
        self._contexts: Dict[Optional[int], _devices.Context] = {}

    # ---- what it is -----------------------------------------------------------------------------

    def _context(self, ordinal: Optional[int] = None) -> _devices.Context:
        """The device of the program; that GPU, where arrays are in its memory."""
        found = self._contexts.get(ordinal)
        if found is not None:
            return found
        kind = _devices.resolve(self._program._device)
        if ordinal is not None and kind != "gpu":
            raise ValueError(
                f"{self.name}: arrays are in the memory of GPU {ordinal}, and the program runs on "
                f'{kind!r}: pass arrays of the host, or compile it with device="gpu"'
            )
        found = self._contexts[ordinal] = _devices.context(kind, ordinal)
        return found

    def _on(self, context: _devices.Context) -> c.c_void_p:
        """The entry in a context; the program keeps it."""
        found = self._handles.get(id(context))
        if found is not None:
            return found[1]
        program = self._program._on(context)
        o, handle = self.options, c.c_void_p()
        settings = (_ffi.Setting * len(o.settings))(
            *(_ffi.Setting(n.encode(), v) for n, v in o.settings)
        )
        flags = (_ffi.SPECIALIZE if o.specialize else 0) | (_ffi.UNTUNED if o.untuned else 0)
        options = _ffi.sized(
            _ffi.EntryOptions,
            settings=settings,
            n_settings=len(o.settings),
            flags=flags,
            strategy=o.strategy and o.strategy.encode(),
            costs=o.costs and o.costs.encode(),
        )
        _devices.work(
            _ffi.lib.rise_entry_get, program, self.name.encode(), c.byref(options), c.byref(handle)
        )
        with self._lock:
            return self._handles.setdefault(id(context), (context, handle))[1]

    def _describe(self) -> Signature:
        if self._known is None:
            self._known = _arguments.signature(self._on(self._context()))
        return self._known

    @property
    def signature(self) -> Signature:
        """Inputs, results, sizes and tunables, with their types."""
        return self._describe()

    def __repr__(self) -> str:
        return f"<risec entry {self.name}{self._describe()}>"

    def with_options(
        self,
        *,
        settings: Optional[Mapping[str, int]] = None,
        specialize: bool = False,
        untuned: bool = False,
        strategy: Optional[str] = None,
        costs: Optional[str] = None,
    ) -> "Entry":
        """The same entry, compiled otherwise.

        settings    values of tunables; with `specialize` also sizes, which are compiled in.
        untuned     what `risec tune` found is not used.
        strategy    lowers the entry instead of its own, as `risec lower --strategy` takes it.
        costs       the text of a table of costs, as `risec --costs` reads it.
        """
        made = Entry(
            self._program,
            self.name,
            Options(tuple(sorted((settings or {}).items())), specialize, untuned, strategy, costs),
        )
        made._describe()
        return made

    # ---- calls ----------------------------------------------------------------------------------

    def __call__(self, *args: Any, out: Any = None, stream: Any = None, **named: Any) -> Any:
        """Runs the entry.

        args, named  the inputs, and the sizes that no shape tells. A tuple of arrays is a tuple.
        out          where results go: an array, or a tuple of as many as there are results. It may
                     be an input's array, where `in_place` says so.
        stream       of CUDA, where arrays are in the memory of a GPU: an object of torch, CuPy or
                     with `__cuda_stream__`, or an address. None: torch's or CuPy's current one if
                     there are arrays of theirs, else that of the first array that names one, else
                     the legacy default stream.
        """
        if out is None and stream is None and not named and "torch" in sys.modules:
            if self._quick is None:
                self._quick = Quick(self)
            done = self._quick(args)
            if done is not MISS:
                return done
        s = self._known or self._describe()
        values, sizes = _arguments.bind(self.name, s, args, named)
        scalars, looks = self._looks(s, values)
        outs = self._outs(s, out)
        ordinal = self._ordinal(s, looks, outs)
        context = self._context(ordinal)
        if ordinal is None and stream is not None:
            raise ValueError(f"{self.name}: a stream is for arrays in the memory of a GPU")
        on, stream = (None, None) if ordinal is None else self._stream(looks, ordinal, stream)
        views = [self._view(a, x, on) if x is not None else None for a, x in zip(s.inputs, looks)]
        shapes = tuple(
            [v.shape if v is not None and a.rank else None for a, v in zip(s.inputs, views)]
        )
        key = id(context), shapes, tuple(sizes.items())
        call, recording = self._take(context, key, on, s, shapes, sizes)
        try:
            results = self._results(s, call, context, ordinal, views, outs, on)
            where = _ffi.HOST if ordinal is None else _ffi.DEVICE
            for k, (a, v, raw) in enumerate(zip(s.inputs, views, scalars)):
                if raw is not None or v is None:
                    call.set_scalar(k, a, raw or b"")
                elif not a.rank:
                    call.set_scalar(k, a, self._scalar_of(a, v))
                else:
                    if v.stream is not None and v.stream != on:
                        _cuda.order(v.stream, on or _cuda.LEGACY, ordinal or 0)
                    call.set_input(k, a, v.address, where)
            call.launch(on, quick=ordinal is not None)
            if ordinal is None:
                call.wait()
            else:
                call.keep(on, stream, [v.owner for v in views if v is not None], results)
        except BaseException:
            call.kept.append((values, outs))  # the launch may have begun
            raise
        if recording is None:
            self._pool.put(key, call)
        else:
            self._recorded.setdefault(recording, []).append(call)
        if ordinal is None:  # a number of numpy
            results = [
                r[()] if a.rank == 0 and own is None and type(r).__module__ == "numpy" else r
                for a, r, own in zip(s.results, results, outs)
            ]
        return results[0] if len(results) == 1 else tuple(results)

    def infer(self, *args: Any, **named: Any) -> Shapes:
        """Sizes, and the shapes of results, for inputs of these shapes. Nothing is allocated, and
        nothing runs.

        Each input is an array or its shape, a tuple of ints; a list stands for a tuple of arrays.
        What
        a scalar input is does not matter.
        """
        s = self._describe()
        values, sizes = _arguments.bind(
            self.name,
            s,
            tuple(map(_shaped, args)),
            {name: x if name in s.sizes else _shaped(x) for name, x in named.items()},
        )
        shapes = tuple(
            None if a.rank == 0 else self._rank(a, tuple(v.shape)) for a, v in zip(s.inputs, values)
        )
        call = Call(self._on(self._context()), s.inputs, s.results, shapes, sizes)
        return Shapes({name: call.size(name) for name in s.sizes}, tuple(call.shapes))

    def prepare(
        self, least: Optional[Mapping[str, int]] = None, most: Optional[Mapping[str, int]] = None
    ) -> None:
        """Compiles and loads now what launches with sizes from `least` to `most` can choose, so
        that none of them waits.

        A size that is not named is from 0 on, without an end. On the simulator there is nothing to
        do.
        """
        s, (least, most) = self._describe(), (least or {}, most or {})
        for name in (*least, *most):
            if name not in s.sizes:
                raise TypeError(
                    f"{self.name} has no size {name!r}; it has {', '.join(s.sizes) or 'none'}"
                )
        n = len(s.sizes)
        lower = (c.c_int64 * n)(*(least.get(name, 0) for name in s.sizes))
        upper = (c.c_int64 * n)(*(most.get(name, 2**63 - 1) for name in s.sizes))
        _devices.work(_ffi.lib.rise_entry_prepare, self._on(self._context()), lower, upper)

    # ---- parts of a call ------------------------------------------------------------------------

    def _outs(self, s: Signature, out: Any) -> List[Any]:
        if out is None:
            return [None] * len(s.results)
        outs = list(out) if isinstance(out, (tuple, list)) else [out]
        if len(outs) != len(s.results):
            raise TypeError(
                f"{self.name}: out has {len(outs)} arrays, and there are {len(s.results)} results"
            )
        return outs

    def _looks(
        self, s: Signature, values: Sequence[Any]
    ) -> Tuple[List[Optional[bytes]], List[Any]]:
        """Of each input the bytes of a number, or what the array is."""
        scalars: List[Optional[bytes]] = []
        looks: List[Any] = []
        for a, value in zip(s.inputs, values):
            raw = None if a.rank else _arguments.scalar_bytes(a.name, value, a.type)
            scalars.append(raw)
            looks.append(None if raw is not None else self._look(a, value))
        return scalars, looks

    def _look(self, a: Argument, x: Any) -> Any:
        try:
            return _arrays.look(a.name, x)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{self.name}: {error}") from None

    def _ordinal(self, s: Signature, looks: Sequence[Any], outs: List[Any]) -> Optional[int]:
        """The GPU whose memory all arrays are in; None: memory of the host. `outs` are looked at,
        too.
        """
        found: Dict[Optional[int], str] = {}
        for a, x in zip(s.inputs, looks):
            if x is not None and a.rank:
                found.setdefault(x.ordinal, a.name)
        for k, (a, x) in enumerate(zip(s.results, outs)):
            if x is not None:
                outs[k] = self._look(a, x), x
                found.setdefault(outs[k][0].ordinal, a.name)
        if len(found) > 1:
            said = [
                f"{name} in that of {'the host' if where is None else f'GPU {where}'}"
                for where, name in found.items()
            ]
            raise ValueError(
                f"{self.name}: arrays are in different memories, {' and '.join(said)}; "
                "risec copies nothing: move one of them first"
            )
        return next(iter(found), None)

    def _stream(self, looks: Sequence[Any], ordinal: int, stream: Any) -> Tuple[int, Any]:
        """The address of the stream, and what keeps it from being destroyed."""
        if stream is not None:
            return _cuda.stream_handle(stream), stream
        named: Optional[int] = None
        for x in looks:
            if x is None:
                continue
            if x.maker == "torch":
                own = sys.modules["torch"].cuda.current_stream(ordinal)
                return own.cuda_stream or _cuda.LEGACY, own
            if x.maker == "cupy":
                own = sys.modules["cupy"].cuda.get_current_stream()
                return own.ptr or _cuda.LEGACY, own
            if named is None and x.maker == "cuda":
                named = x.stream
        return named or _cuda.LEGACY, None

    def _rank(self, a: Argument, shape: Shape) -> Shape:
        if len(shape) != a.rank:
            raise ValueError(
                f"{self.name}: {a.name} is {a.text}, an array of {a.rank} axes, "
                f"and {len(shape)} are given: its shape is {shape}"
            )
        return shape

    def _view(self, a: Argument, x: Any, stream: Optional[int]) -> _arrays.View:
        """The array as this argument."""
        v = x.take(stream) if isinstance(x, _arrays.Exchange) else x
        if v.type is not a.type:
            to = (
                f"{a.name}.to(torch.{a.type.common})"
                if v.maker == "torch"
                else f'{a.name}.astype("{a.type.common}")'
            )
            raise TypeError(
                f"{self.name}: {a.name} has elements of {v.dtype}, and the program takes {a.text}: "
                f"pass {to}"
            )
        if len(v.shape) != a.rank:
            self._rank(a, v.shape)
        return v

    def _scalar_of(self, a: Argument, v: _arrays.View) -> bytes:
        if v.ordinal is not None:
            raise TypeError(
                f"{self.name}: {a.name} is a number, which launches take from the host: "
                f"pass {a.name}.item()"
            )
        return c.string_at(v.address, a.type.bytes)

    def _take(
        self,
        context: _devices.Context,
        key: Any,
        stream: Optional[int],
        s: Signature,
        shapes: Sequence[Optional[Shape]],
        sizes: Dict[str, int],
    ) -> Tuple[Call, Any]:
        """A call of these shapes; and where the stream records, what the call stays with."""
        recording = _cuda.recording(stream, context.ordinal) if stream is not None else None
        if recording is not None:
            kept = self._recorded.get((recording, key))
            call = kept.pop() if kept else self._pool.take(key, stream)
            if call is None:
                raise _errors.ArgumentError(
                    f"{self.name}: the stream records a graph, and no launch of these shapes is "
                    "prepared: call it once with them before the recording, and wait for it"
                )
            return call, (recording, key)
        call = self._pool.take(key, stream)
        if call is None:
            call = Call(self._on(context), s.inputs, s.results, shapes, sizes)
        call.let_go()
        return call, None

    def _results(
        self,
        s: Signature,
        call: Call,
        context: _devices.Context,
        ordinal: Optional[int],
        views: Sequence[Optional[_arrays.View]],
        outs: List[Any],
        stream: Optional[int],
    ) -> List[Any]:
        """The results, whose addresses the call now has."""
        makers = {v.maker for v in views if v is not None}
        maker = next((m for m in ("torch", "cupy", "cuda", "dlpack") if m in makers), "numpy")
        where = _ffi.HOST if ordinal is None else _ffi.DEVICE
        found = []
        for a, shape, size, out in zip(s.results, call.shapes, call.bytes, outs):
            if out is None:
                made, address = _arrays.empty(maker, context, ordinal, shape, a.type)
                if isinstance(made, _arrays.DeviceArray):
                    made.stream = stream or _cuda.LEGACY
            else:
                v = self._view(a, out[0], stream)
                if v.shape != shape:
                    raise ValueError(
                        f"{self.name}: out for {a.name} has shape {v.shape}, and the result has "
                        f"{shape}"
                    )
                if v.readonly:
                    raise ValueError(f"{self.name}: out for {a.name} may not be written")
                made, address = out[1], v.address
            call.set_output(a, address, size, where)
            found.append(made)
        return found

    # ---- texts and numbers ----------------------------------------------------------------------

    def _text(self, function: Any, *args: Any) -> bytes:
        text, size = c.c_char_p(), c.c_size_t()
        _devices.work(function, self._on(self._context()), *args, c.byref(text), c.byref(size))
        return c.string_at(text, size.value)

    @property
    def cuda(self) -> str:
        """The CUDA C: kernels, and host functions that launch them."""
        return self._text(_ffi.lib.rise_entry_cuda).decode()

    @property
    def manifest(self) -> Dict[str, Any]:
        """What a host needs to launch the kernels."""
        return json.loads(self._text(_ffi.lib.rise_entry_manifest))

    @property
    def in_place(self) -> Dict[str, Tuple[str, ...]]:
        """For each result the inputs whose array may be its `out`, as well."""
        return {
            a["name"]: tuple(a.get("inPlace", ()))
            for a in self.manifest["entries"][0]["arguments"]
            if a["direction"] == "out"
        }

    def ptx(self, arch: Optional[str] = None) -> str:
        """All kernels as PTX for "sm_90" or the like; None: the context's GPU. Needs NVRTC, and no
        GPU.
        """
        return self._text(_ffi.lib.rise_entry_ptx, arch and arch.encode()).decode()

    def cubin(self, arch: Optional[str] = None) -> bytes:
        """All kernels as a cubin, likewise."""
        at, size = c.c_void_p(), c.c_size_t()
        _devices.work(
            _ffi.lib.rise_entry_cubin,
            self._on(self._context()),
            arch and arch.encode(),
            c.byref(at),
            c.byref(size),
        )
        return c.string_at(at.value or 0, size.value)

    @property
    def kernels(self) -> Tuple[Kernel, ...]:
        """The kernels, with registers and spills where the device is a GPU."""
        entry, found = self._on(self._context()), []
        for k in range(_ffi.lib.rise_entry_kernel_count(entry)):
            kernel = _ffi.sized(_ffi.Kernel)
            _devices.work(_ffi.lib.rise_entry_kernel, entry, k, c.byref(kernel))
            x, y, z = kernel.threads
            found.append(
                Kernel(
                    _ffi.text(kernel.name),
                    (x, y, z),
                    kernel.registers,
                    kernel.static_shared,
                    kernel.spills,
                    kernel.max_threads,
                    kernel.index_bits,
                )
            )
        return tuple(found)

    def plan(self, **sizes: int) -> "Plan":
        """What the entry becomes, and why: arrays, kernels and launches, with numbers for these
        sizes.
        """
        from ._reports import plan

        return plan(self, sizes)

    def trace(self) -> "Trace":
        """The steps that lower the entry, each with the program before and after."""
        from ._reports import trace

        return trace(self)

    def profile(self, *args: Any, **named: Any) -> "Profile":
        """Runs the entry on the simulator, and counts line by line what a GPU would do. Inputs are
        arrays of numpy.
        """
        from ._reports import profile

        return profile(self, args, named)


class _OfShape:
    def __init__(self, shape: Shape) -> None:
        self.shape = shape


def _shaped(x: Any) -> Any:
    """A value for `infer`: something with a shape, or a tuple of such."""
    if isinstance(x, list):
        return tuple(map(_shaped, x))
    return _OfShape(x) if isinstance(x, tuple) else x if hasattr(x, "shape") else _OfShape(())
