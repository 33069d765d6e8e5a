module.exports = globalThis.requireOfNode('@temporalio/client');
