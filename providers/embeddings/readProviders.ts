import { EMBEDDING_MODEL_IDS, EMBEDDING_MODELS } from '../../contract/vectors/embeddingModels.js';
import type { AzureSettings } from './providers/azure.js';
import type { VertexSettings } from './providers/vertex.js';
import type { ProviderSettings } from './registry.js';

/** Returns the value of a setting; null if it is not set. */
type ReadSetting = (name: string) => string | null;

const withoutTrailingSlash = (text: string): string => text.replace(/\/+$/, '');

/**
 * Reads which providers are configured. OpenAI, Cohere and Solar need only a key. Azure and Vertex need several
 * settings: if none is set, the provider is not configured; if only some are set, that is an error.
 * @param readFile reads the file that VERTEX_CREDENTIALS names
 * @throws Error that names the missing settings
 */
export function readProviders(
  readSetting: ReadSetting,
  readFile: (path: string) => string,
): Omit<ProviderSettings, 'keyLimits'> {
  const keyAndUrl = (name: 'OPENAI' | 'COHERE' | 'SOLAR'): { baseUrl: string; key: string } | null => {
    const key = readSetting(`${name}_API_KEY`);
    return key === null ? null : { baseUrl: withoutTrailingSlash(readSetting(`${name}_BASE_URL`) ?? ''), key };
  };
  return {
    openai: keyAndUrl('OPENAI'),
    cohere: keyAndUrl('COHERE'),
    solar: keyAndUrl('SOLAR'),
    azure: azure(readSetting),
    vertex: vertex(readSetting, readFile),
  };
}

function azure(given: ReadSetting): AzureSettings | null {
  const [endpoint, key, deployments] = allOrNone(given, [
    'AZURE_OPENAI_ENDPOINT',
    'AZURE_OPENAI_API_KEY',
    'AZURE_OPENAI_DEPLOYMENTS',
  ]);
  if (endpoint === undefined || key === undefined || deployments === undefined) return null;
  return {
    endpoint: withoutTrailingSlash(endpoint),
    key,
    apiVersion: given('AZURE_OPENAI_API_VERSION') ?? '',
    deployments: readDeployments(deployments),
  };
}

const isServedByAzure = (id: string): boolean =>
  EMBEDDING_MODEL_IDS.some((modelId) => modelId === id && EMBEDDING_MODELS[modelId].provider === 'azure');

/**
 * Parses `MODEL_ID=deployment` pairs, separated by commas.
 * @throws Error whose message follows the name of the setting: `takes pairs such as …`
 */
export function readDeployments(text: string): AzureSettings['deployments'] {
  const pairs = text.split(',').map((part) => part.trim());
  return Object.fromEntries(
    pairs
      .filter((pair) => pair !== '')
      .map((pair) => {
        const [id = '', name = ''] = pair.split('=').map((part) => part.trim());
        if (!isServedByAzure(id) || name === '')
          throw new Error('takes pairs such as AZURE_OPENAI=deployment, separated by commas');
        return [id, name];
      }),
  );
}

function vertex(given: ReadSetting, readFile: (path: string) => string): VertexSettings | null {
  const [project, accessToken, key] = ['VERTEX_PROJECT', 'VERTEX_ACCESS_TOKEN', 'VERTEX_CREDENTIALS'].map(given);
  if (!project && !accessToken && !key) return null;
  if (!project) throw new Error('VERTEX_PROJECT is not set, but credentials of Vertex AI are');
  if (!accessToken && !key)
    throw new Error('VERTEX_CREDENTIALS or VERTEX_ACCESS_TOKEN is not set, but VERTEX_PROJECT is');
  const baseUrl = given('VERTEX_BASE_URL');
  return {
    project,
    location: given('VERTEX_LOCATION') ?? '',
    baseUrl: baseUrl === null ? null : withoutTrailingSlash(baseUrl),
    credentials: key ? { serviceAccount: readKey(key, readFile) } : { accessToken: accessToken ?? '' },
  };
}

function readKey(keyOrPath: string, readFile: (path: string) => string): string {
  if (keyOrPath.trimStart().startsWith('{')) return keyOrPath;
  try {
    return readFile(keyOrPath);
  } catch {
    throw new Error('VERTEX_CREDENTIALS names a file that cannot be read');
  }
}

/** Returns the values of all settings, or an empty list if none is set. */
function allOrNone(given: ReadSetting, names: readonly string[]): string[] {
  const values = names.map(given);
  const missing = names.filter((_name, at) => values[at] === null);
  if (missing.length === names.length) return [];
  if (missing.length > 0)
    throw new Error(
      `${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} not set, but other settings of Azure OpenAI are`,
    );
  return values.flatMap((value) => value ?? []);
}
