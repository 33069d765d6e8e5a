module.exports = globalThis.sharedPackage('@qdrant/js-client-rest');
