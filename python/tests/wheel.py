"""wheel.py FILE.whl: one extension on the stable interface, the package's files, and nothing else."""
import pathlib
import sys
import zipfile

source = pathlib.Path(__file__).parent.parent / "tribo"
names = [n for n in zipfile.ZipFile(sys.argv[1]).namelist() if ".dist-info/" not in n]
wanted = {f"tribo/{p.name}" for p in source.iterdir() if p.suffix in (".py", ".pyi", ".typed")} | {"tribo/_core.abi3.so"}
wanted |= {"tribo/py.typed"}
for name in sorted(set(names) ^ wanted):
    print(f"{sys.argv[1]}: {name} is {'missing' if name in wanted else 'too much'}")
if "abi3" not in pathlib.Path(sys.argv[1]).name:
    print(f"{sys.argv[1]}: its name does not say abi3")
sys.exit(set(names) != wanted or "abi3" not in sys.argv[1])
