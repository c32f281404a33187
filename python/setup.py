"""Builds librise and risec by CMake, and puts them into the package.

RISEC_BUILD   a build tree that has them already, used as it is.
"""
import glob
import os
import platform
import re
import shutil
import subprocess

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist
from wheel.bdist_wheel import bdist_wheel

HERE = os.path.dirname(os.path.abspath(__file__))
# In a source distribution the compiler's sources lie inside; in the repository, around.
INSIDE = os.path.join(HERE, "source")
SOURCE = INSIDE if os.path.exists(INSIDE) else os.path.dirname(HERE)
# What of the repository a source distribution needs.
PARTS = ("CMakeLists.txt", "LICENSE", "cmake", "grammar", "lib", "runtime", "share", "src")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def version():
    """That of rise.h; _version.py says the same."""
    header = read(f"{SOURCE}/runtime/include/rise.h")
    parts = [
        re.search(rf"#define RISE_VERSION_{p} (\d+)", header)[1]
        for p in ("MAJOR", "MINOR", "PATCH")
    ]
    found = ".".join(parts)
    ours = re.search(r'VERSION = "(.*)"', read(f"{HERE}/risec/_version.py"))[1]
    if ours != found:
        raise SystemExit(f"risec/_version.py says {ours}, and rise.h {found}")
    return found


def library():
    return re.search(r'LIBRARY = "(.*)"', read(f"{HERE}/risec/_version.py"))[1]


def build_tree():
    """A build tree with librise and risec."""
    given = os.environ.get("RISEC_BUILD")
    if given:
        return given
    tree = os.path.join(HERE, "build", "cmake")
    subprocess.run(
        [
            "cmake",
            "-S",
            SOURCE,
            "-B",
            tree,
            "-DCMAKE_BUILD_TYPE=Release",
            "-DRISE_BUILD_TESTS=OFF",
            "-DRISEC_LSP=STATIC",
        ],
        check=True,
    )
    subprocess.run(
        [
            "cmake",
            "--build",
            tree,
            "--parallel",
            str(os.cpu_count() or 1),
            "--target",
            "risec",
            "rise",
        ],
        check=True,
    )
    return tree


def newest_glibc(paths):
    """N of the newest GLIBC_2.N that these files ask for."""
    found = [0]
    for path in paths:
        with open(path, "rb") as file:
            found += map(int, re.findall(rb"GLIBC_2\.(\d+)", file.read()))
    return max(found)


class Build(build_py):
    def run(self):
        super().run()
        tree, package = build_tree(), os.path.join(self.build_lib, "risec")
        for folder, path, name in (
            ("lib", f"runtime/{library()}", library()),
            ("bin", "risec", "risec"),
        ):
            os.makedirs(os.path.join(package, folder), exist_ok=True)
            target = os.path.join(package, folder, name)
            shutil.copyfile(os.path.realpath(os.path.join(tree, path)), target)
            os.chmod(target, 0o755)


class Package(Distribution):
    """It has a library of the machine's code, though no module of Python's."""

    def has_ext_modules(self):
        return True


class Wheel(bdist_wheel):
    """One wheel for every Python: nothing in it was compiled for one."""

    def get_tag(self):
        built = self.get_finalized_command("build").build_lib
        files = glob.glob(os.path.join(built, "risec", "lib", "*")) + glob.glob(
            os.path.join(built, "risec", "bin", "*")
        )
        return "py3", "none", f"manylinux_2_{newest_glibc(files)}_{platform.machine()}"


class Sources(sdist):
    """Also what librise and risec are built from; the grammar's tables too, so that neither re2c
    nor lemon is needed.
    """

    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        inside = os.path.join(base_dir, "source")
        ignore = shutil.ignore_patterns("__pycache__")
        for part in PARTS:
            target = os.path.join(inside, part)
            if os.path.isdir(f"{SOURCE}/{part}"):
                shutil.copytree(f"{SOURCE}/{part}", target, ignore=ignore)
            else:
                os.makedirs(os.path.dirname(target), exist_ok=True)
                shutil.copyfile(f"{SOURCE}/{part}", target)
        generated = os.path.join(inside, "grammar", "generated")
        if not os.path.exists(generated):
            shutil.copytree(os.path.join(build_tree(), "grammar"), generated)


setup(
    distclass=Package,
    version=version(),
    cmdclass={"build_py": Build, "bdist_wheel": Wheel, "sdist": Sources},
)
