module.exports = globalThis.requireOfNode('@temporalio/worker');
