module.exports = globalThis.requireOfNode('@temporalio/activity');
