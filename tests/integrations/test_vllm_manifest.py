"""The manifests, read by the validators of those who will be given them."""

import shlex
import subprocess
import sys
from typing import Any

import pytest
import yaml

from specedit.errors import UsageError
from specedit.integrations.vllm import launch
from specedit.integrations.vllm.launch import KINDS, Cluster, manifest

CLUSTERS = {
    "one": Cluster(),
    "two cards": Cluster(gpus=2, replicas=3, name="edits-2", image="registry:5000/a/b:1"),
    "odd words": Cluster(model='a"b: {c} # d\n- e'),
}
ODD = ("--max-model-len", "16384", "--chat-template", "{{ $HOME $(X) }}: #'\"")


@pytest.mark.parametrize("cluster", CLUSTERS.values(), ids=CLUSTERS)
def test_kubernetes_takes_its_objects(cluster):
    validator = pytest.importorskip("kubernetes_validate")
    objects = list(yaml.safe_load_all(manifest("kubernetes", cluster, ODD)))
    for one in objects:
        validator.validate(one, validator.latest_version(), strict=True)
    assert [one["kind"] for one in objects] == ["PersistentVolumeClaim", "Deployment", "Service"]


@pytest.mark.parametrize("cluster", CLUSTERS.values(), ids=CLUSTERS)
def test_compose_takes_its_file(cluster, tmp_path):
    pytest.importorskip("check_jsonschema")
    path = tmp_path / "compose.yaml"
    path.write_text(manifest("compose", cluster, ODD), encoding="utf-8")
    line = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec"]
    done = subprocess.run([*line, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def deployment(cluster: Cluster, given: tuple[str, ...] = ()) -> Any:
    return list(yaml.safe_load_all(manifest("kubernetes", cluster, given)))[1]


def test_what_runs_is_what_serve_would_run():
    (container,) = deployment(Cluster("m"), ODD)["spec"]["template"]["spec"]["containers"]
    words = [*container["command"], *container["args"]]
    escaped = [word.replace("$(", "$$(") for word in ODD]  # Kubernetes' own word for `$(`
    assert words == ["vllm", "serve", "m", *launch.flags(ODD), *escaped]
    service = yaml.safe_load(manifest("compose", Cluster("m"), ODD))["services"]["vllm"]
    escaped = [word.replace("$", "$$") for word in ODD]
    assert service["command"] == ["m", *launch.flags(ODD), *escaped]


def test_cards_are_asked_for_and_used():
    (container,) = deployment(Cluster(gpus=4))["spec"]["template"]["spec"]["containers"]
    assert container["resources"]["limits"] == {"nvidia.com/gpu": "4"}
    assert container["args"][-2:] == ["--tensor-parallel-size", "4"]
    items = ("--data_parallel_size=4",)
    (container,) = deployment(Cluster(gpus=4), items)["spec"]["template"]["spec"]["containers"]
    assert "--tensor-parallel-size" not in container["args"]


def test_the_service_finds_the_deployment_and_probes_find_the_port():
    claim, deployed, service = yaml.safe_load_all(manifest("kubernetes", Cluster(name="x")))
    labels = deployed["spec"]["template"]["metadata"]["labels"]
    assert service["spec"]["selector"].items() <= labels.items()
    spec = deployed["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    named = {port["name"] for port in container["ports"]}
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert container[probe]["httpGet"] == {"path": "/health", "port": "http"}
    assert {port["targetPort"] for port in service["spec"]["ports"]} <= named
    claimed = [v.get("persistentVolumeClaim", {}).get("claimName") for v in spec["volumes"]]
    assert claim["metadata"]["name"] in claimed


BAD = {
    "kind": ("helm", Cluster()),
    "name": ("kubernetes", Cluster(name="A b")),
    "storage": ("kubernetes", Cluster(storage="much")),
    "image": ("compose", Cluster(image="a b")),
}


@pytest.mark.parametrize(("kind", "cluster"), BAD.values(), ids=BAD)
def test_what_no_cluster_would_take_is_refused(kind, cluster):
    with pytest.raises(UsageError):
        manifest(kind, cluster)


@pytest.mark.parametrize("kind", KINDS)
def test_the_command_prints_it(inside, kind):
    done = inside("vllm", "manifest", kind, "--model", "a/b", "--max-num-seqs", "9")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode() == manifest(kind, Cluster("a/b"), ("--max-num-seqs", "9"))
    assert kind == "image" or shlex.quote("--max-num-seqs") in done.stdout.decode()
