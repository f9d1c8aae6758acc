"""The operations of the dialect as TableGen knows them, so that a test can ask which
there are instead of keeping a list. Needs the dialect's .td files and llvm-tblgen."""
import glob
import json
import os
import subprocess

DIALECT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "dialect")


def classes_of(traits, records):
    """The names of traits and of their classes, those in lists too."""
    for trait in traits:
        record = records[trait["def"]]
        yield trait["def"]
        yield from record["!superclasses"]
        if "TraitList" in record["!superclasses"]:
            yield from classes_of(record["traits"], records)


class Operation:
    def __init__(self, record, records, family):
        self.name, self.family = record["opName"], family
        classes = set(classes_of(record["traits"], records))
        self.differentiable = "NotDifferentiable" not in classes
        # Each element of the result depends on the elements at its place only.
        self.elementwise = "DiagonalJacobian" in classes
        self.has_regions = bool(record["regions"]["args"])
        self.results = len(record["results"]["args"])
        arguments = [(value["def"], records[value["def"]]["!superclasses"])
                     for value, _ in record["arguments"]["args"] if "def" in value]
        # The constraints of the operands, without the attributes.
        self.operands = [name for name, above in arguments if "AttrConstraint" not in above]
        self.attributes = len(record["arguments"]["args"]) - len(self.operands)


def include_folder():
    done = subprocess.run(["llvm-config", "--includedir"], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def operations():
    """All operations of the dialect by name."""
    found = {}
    for path in sorted(glob.glob(os.path.join(DIALECT, "*Ops.td"))):
        done = subprocess.run(["llvm-tblgen", "--dump-json", "-I", os.path.join(DIALECT, ".."),
                               "-I", include_folder(), path], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr)
        records = json.loads(done.stdout)
        for name in records["!instanceof"]["Op"]:
            if "Astra_Op" in records[name]["!superclasses"]:
                family = os.path.basename(path)[:-len("Ops.td")]
                operation = Operation(records[name], records, family)
                found[operation.name] = operation
    assert len(found) > 100, "the records were not found"
    return found
