module.exports = globalThis.requireOfNode('mongoose');
