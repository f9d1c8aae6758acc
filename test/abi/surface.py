"""The whole interface as one C library with debug information, for abidiff: a
definition that does nothing for each function of the public headers, and a
variable of each type that the other two interfaces begin with.

The real library's functions are declared by the same headers, so they cannot
differ; runtime-symbols checks that it exports them.
"""
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "runtime/abi"))
import headers

ROOTS = ("astra_api_t", "astra_module_desc_t", "astra_call_t", "astra_backend_t",
         "astra_backend_host_t", "astra_backend_call_t", "astra_extension_backend_t")


def source(include):
    """C of the interface that the headers in `include` declare."""
    lines = ['#include "astra/api.h"', '#include "astra/module.h"', '#include "astra/backend.h"',
             '#include "astra/astra.h"']
    for function in headers.functions(folder=include / "astra"):
        result = "" if function.result == "void" else " return 0; "
        lines.append(f"{function.result} {function.name}({function.parameters}) {{{result}}}")
    lines += [f"const {root} *surface_{root};" for root in ROOTS]
    return "\n".join(lines) + "\n"


def build(include, folder, compiler="cc"):
    """Compiles the interface into `folder`; gives the library's path."""
    folder = pathlib.Path(folder)
    (folder / "surface.c").write_text(source(include))
    subprocess.run([compiler, "-std=c99", "-g", "-O0", "-fPIC", "-shared", "-w", "-I", include,
                    f"-ffile-prefix-map={include}=.", f"-ffile-prefix-map={folder}=.",
                    "-o", folder / "libsurface.so", folder / "surface.c"], check=True)
    return folder / "libsurface.so"
