module.exports = globalThis.requireOfNode('undici');
