"""What PyYAML, over libyaml, makes of each document of standard input, which NULs separate: a line of JSON with its leaves, or null."""

import json
import sys

import yaml


def leaves(node, loader, path, found):
    if isinstance(node, yaml.MappingNode):
        loader.flatten_mapping(node)
        last = {name.value: value for name, value in node.value}
        for name, value in last.items():
            leaves(value, loader, path + [name], found)
    elif isinstance(node, yaml.SequenceNode):
        for at, value in enumerate(node.value):
            leaves(value, loader, path + [str(at)], found)
    elif node.tag != "tag:yaml.org,2002:null":
        found.append([".".join(path), node.value])


for document in sys.stdin.buffer.read().split(b"\0"):
    found = []
    try:
        loader = yaml.CSafeLoader(document)
        leaves(loader.get_single_node(), loader, [], found)
    except yaml.YAMLError:
        found = None
    print(json.dumps(found))
