/** Child process of a test: reports that it is ready, then follows the environment variable BEHAVIOUR. */
const { BEHAVIOUR } = process.env;
if (BEHAVIOUR === 'fails') process.exit(4);
if (BEHAVIOUR === 'hangs') {
  process.stdout.write(`${process.pid}\n`);
  process.once('disconnect', () => process.exit());
} else process.send({ ready: true, port: 7 });
// Sends one heartbeat only, so the supervisor treats it as frozen afterwards.
if (BEHAVIOUR === 'freezes') setTimeout(() => process.send({ alive: true }), 200);
if (BEHAVIOUR === 'logs') process.stdout.write('a line\nanother\n');
setInterval(() => undefined, 60_000);
