module.exports = globalThis.requireOfNode('joi');
