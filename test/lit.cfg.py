# How lit runs the tests in this folder: .mlir files through astra-opt, .astra
# files through astrac. With `--param roundtrip=1` astra-opt also prints and reads
# back every module and compares.
import os

import lit.formats

config.name = "Astra"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".mlir", ".test", ".astra"]
config.excludes = ["Inputs", "abi", "bench", "e2e", "fuzz"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = config.astra_build_dir + "/test/lit"

tools = os.path.join(config.astra_build_dir, "bin")
path = [tools, config.llvm_tools_dir, config.environment.get("PATH", "")]
config.environment["PATH"] = os.path.pathsep.join(path)

roundtrip = " --verify-roundtrip" if lit_config.params.get("roundtrip") else ""
config.substitutions.append((r"\bastra-opt\b", "astra-opt" + roundtrip))
config.substitutions.append(("%src", config.astra_source_dir))
