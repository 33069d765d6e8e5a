module.exports = globalThis.sharedPackage('mongoose');
