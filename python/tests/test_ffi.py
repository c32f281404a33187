"""The table of _ffi.py and its structs are what rise.h declares."""
import ctypes as c
import os
import re
import subprocess
import tempfile
import unittest

from risec import _ffi, _types, _version

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HEADER = f"{ROOT}/runtime/include/rise.h"
STRUCTS = {
    "rise_error": _ffi.Error,
    "rise_diagnostic": _ffi.Diagnostic,
    "rise_context_options": _ffi.ContextOptions,
    "rise_setting": _ffi.Setting,
    "rise_entry_options": _ffi.EntryOptions,
    "rise_device_allocator": _ffi.DeviceAllocator,
    "rise_argument": _ffi.Argument,
    "rise_kernel": _ffi.Kernel,
}
# Which of C's types a type of ctypes may stand for.
INTEGERS = {c.c_int: ("int", "int32_t"), c.c_size_t: ("size_t",), c.c_int64: ("int64_t",)}


def header():
    with open(HEADER, encoding="utf-8") as file:
        return re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)


def functions():
    """name -> (result, parameters) as text."""
    found = re.findall(r"RISE_API ([\w \*]+?)(\*?rise_\w+)\(([^;]*?)\);", header(), flags=re.S)
    return {
        name.lstrip("*"): (
            result.strip() + "*" * name.count("*"),
            [p.strip() for p in parameters.split(",") if p.strip() != "void"],
        )
        for result, name, parameters in found
    }


def fits(parameter, t):
    """Is `t` a type of ctypes for a parameter that is written so?"""
    if t in INTEGERS:
        return "*" not in parameter and re.sub(r"^const ", "", parameter).split()[0] in INTEGERS[t]
    return "*" in parameter


class Table(unittest.TestCase):
    def test_functions(self):
        declared = functions()
        self.assertGreater(len(declared), 45)
        unused = {"rise_type_bytes", "rise_type_name", "rise_status_name"}
        for name, (result, parameters) in _ffi.FUNCTIONS.items():
            with self.subTest(name):
                self.assertIn(name, declared)
                said, wanted = declared[name]
                self.assertEqual(len(wanted), len(parameters), wanted)
                for text, t in zip(wanted, parameters):
                    self.assertTrue(fits(text, t), f"{text}: {t}")
                if result is None:
                    self.assertEqual(said, "void")
                elif result is c.c_char_p:
                    self.assertEqual(said.replace(" ", ""), "constchar*")
                else:
                    self.assertIn(said, INTEGERS[result])
        self.assertTrue(unused <= set(declared))

    def test_structs(self):
        with tempfile.TemporaryDirectory() as folder:
            lines = []
            for name, struct in STRUCTS.items():
                lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
                lines += [
                    f'printf("{name}.{field[0]} %zu\\n", offsetof({name}, {field[0]}));'
                    for field in struct._fields_
                ]
            with open(f"{folder}/a.c", "w", encoding="utf-8") as file:
                file.write(
                    '#include <stdio.h>\n#include "rise.h"\nint main(void) {\n'
                    + "\n".join(lines)
                    + "\nreturn 0; }\n"
                )
            subprocess.run(
                [
                    os.environ.get("CC", "cc"),
                    f"-I{os.path.dirname(HEADER)}",
                    f"{folder}/a.c",
                    "-o",
                    f"{folder}/a",
                ],
                check=True,
            )
            said = subprocess.run(
                [f"{folder}/a"], check=True, capture_output=True, text=True
            ).stdout.split()
        for name, number in zip(said[::2], said[1::2]):
            struct, _, field = name.partition(".")
            ours = STRUCTS[struct]
            self.assertEqual(
                int(number), getattr(ours, field).offset if field else c.sizeof(ours), name
            )

    def test_types(self):
        for t in _types.TYPES:
            self.assertEqual(_ffi.lib.rise_type_bytes(t.code), t.bytes)
            self.assertEqual(_ffi.lib.rise_type_name(t.code).decode(), t.name)
        self.assertEqual(_ffi.lib.rise_type_bytes(len(_types.TYPES) + 1), 0)

    def test_statuses(self):
        from risec import _errors

        text = header()
        declared = {
            int(n) for n in re.findall(r"RISE_ERROR_[A-Z_]+ = (\d+)", text) if int(n) != 2040
        }
        self.assertEqual(declared, set(_errors.BY_STATUS))

    def test_version(self):
        import risec

        self.assertEqual(risec.version(), _version.VERSION)
        self.assertEqual(risec.__version__, _version.VERSION)


if __name__ == "__main__":
    unittest.main()
