module.exports = globalThis.requireOfNode('express');
