/** A process of a test: says that it is ready, then does what its environment says. */
const { DOES } = process.env;
if (DOES === 'fails') process.exit(4);
process.send({ ready: true, port: 7 });
// One sign of life at the start only: to its supervisor it is frozen from then on.
if (DOES === 'freezes') setTimeout(() => process.send({ alive: true }), 200);
if (DOES === 'logs') process.stdout.write('a line\nanother\n');
setInterval(() => undefined, 60_000);
