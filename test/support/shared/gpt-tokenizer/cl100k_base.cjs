module.exports = globalThis.requireOfNode('gpt-tokenizer/bpeRanks/cl100k_base').default;
