import { SETTINGS } from '../config/settings.js';

/** Returns an environment without the settings of the service: a temporary service must not use real stores. */
export const withoutSettings = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !Object.hasOwn(SETTINGS, name)));
