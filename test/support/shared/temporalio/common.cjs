module.exports = globalThis.requireOfNode('@temporalio/common');
