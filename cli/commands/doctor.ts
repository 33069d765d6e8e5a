import { loadConfig } from '../../config/config.js';
import { ConfigError } from '../../config/configError.js';
import { bad, type Check, exitCodeOf, messageOf, ok } from '../doctor/check.js';
import { apiChecks, mongodbChecks, qdrantChecks, temporalChecks } from '../doctor/engines.js';
import { machineChecks } from '../doctor/machine.js';
import { workChecks } from '../doctor/work.js';
import { type Call, type Command, JSON_OPTION, URL_OPTION } from '../command.js';

const SIGNS: Readonly<Record<Check['state'], string>> = { ok: 'ok  ', warn: 'LOOK', bad: 'BAD ', skipped: 'skip' };

async function examine(call: Call): Promise<Check[]> {
  try {
    const config = loadConfig(call.terminal.env);
    const mongodbAnswer = mongodbChecks(config);
    const [mongodb, qdrant, temporal, api, machine] = await Promise.all([
      mongodbAnswer,
      qdrantChecks(config),
      mongodbAnswer.then(({ deploymentId }) => temporalChecks(config, deploymentId)),
      apiChecks(call),
      machineChecks(config),
    ]);
    try {
      const broken = qdrant.find(({ state }) => state === 'bad');
      const work = await workChecks(config, mongodb.inspection, temporal.inspection, {
        qdrant: broken ? `Qdrant failed its check. ${broken.fix?.replace(/\.$/, '') ?? ''}` : null,
        temporal: null,
      });
      const engines = [...mongodb.checks, ...qdrant, ...temporal.checks];
      return [ok('settings', 'are valid'), ...engines, ...api, ...machine, ...work];
    } finally {
      await Promise.all([mongodb.inspection?.close(), temporal.inspection?.close()]);
    }
  } catch (error) {
    if (error instanceof ConfigError) return [bad('settings', messageOf(error), 'See docs/settings.md.')];
    throw error;
  }
}

export const doctor: Command = {
  usage: '',
  about: [
    'Checks settings, engines and their versions, worker, API, disk, file storage, Chromium, embedding model, clock, PUBLIC_URL,',
    'secrets, files without progress, webhooks and data sources, and prints what to do. Changes nothing. Exit code 1 if a check',
    'is BAD; LOOK marks a passed check that needs attention.',
  ].join('\n'),
  options: { ...URL_OPTION, ...JSON_OPTION },
  async run(call) {
    const { has, terminal } = call;
    const checks = await examine(call);
    if (has('json')) terminal.out(JSON.stringify(checks));
    else
      for (const { name, state, found, fix } of checks) {
        terminal.out(`${SIGNS[state]}  ${name}: ${found}`);
        if (fix !== undefined) terminal.out(`      → ${fix}`);
      }
    return exitCodeOf(checks);
  },
};
