import { StartError } from '../contract/startError.js';

/** Invalid settings. The message lists each problem on its own line. */
export class ConfigError extends StartError {}

/** Returns the error for settings with some problems, one per line. */
export const configErrorOf = (problems: readonly string[]): ConfigError =>
  new ConfigError(`These settings can't be used:\n${problems.map((problem) => `- ${problem}`).join('\n')}`);
