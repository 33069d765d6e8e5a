/**
 * Emulates Document360's customer API (v2), by its published reference: a project whose workspaces, categories and
 * articles a test changes.
 */
import type { ServerResponse } from 'node:http';

import { type Emulator, type Refused, sendJson, startEmulator } from './emulator.js';

export const TOKEN = 'd360-lighthouse-token';

export interface EmulatedArticle {
  readonly title: string;
  html: string;
  /** Content of an article of the old Markdown editor; it replaces the HTML. */
  readonly markdown?: string;
  /** Published version. 0: a draft that was never published. */
  published?: number;
  readonly hidden?: boolean;
}
export interface EmulatedCategory {
  readonly name: string;
  readonly hidden?: boolean;
  readonly articles?: Record<string, EmulatedArticle>;
  readonly categories?: Record<string, EmulatedCategory>;
}
export interface EmulatedWorkspace {
  readonly name: string;
  readonly language?: string;
  categories: Record<string, EmulatedCategory>;
}

/** `body` replaces Document360's default error body. */
type D360Refused = Refused & { readonly body?: unknown };

export interface Document360Emulator extends Emulator<D360Refused> {
  /** The value of SOURCE_URLS. */
  readonly settings: string;
  /** Workspaces by id, oldest first. */
  readonly workspaces: Map<string, EmulatedWorkspace>;
  readonly tokens: Set<string>;
}

const CREATED_AT = Date.parse('2026-03-03T10:00:00.000Z');
const stamp = (number = 0): string => new Date(CREATED_AT + number * 60_000).toISOString();
const enveloped = (data: unknown) => ({
  data,
  extension_data: null,
  success: true,
  errors: [],
  warnings: [],
  information: [],
});
const refuse = (response: ServerResponse, { status, headers = {}, body }: D360Refused): void => {
  const error = { stack_trace: null, description: status === 404 ? 'Not found' : 'no', error_code: `E${status}` };
  sendJson(response, status, body ?? { ...enveloped(null), success: false, errors: [error] }, headers);
};

const articleJson = (id: string, { title, published = 1, hidden = false }: EmulatedArticle) => ({
  id,
  title,
  public_version: published,
  latest_version: Math.max(1, published),
  language_code: null,
  hidden,
  status: published === 0 ? 0 : 3,
  order: 1,
  slug: id,
  modified_at: stamp(published),
});
const categoryJson = (
  workspace: string,
  [id, category]: [string, EmulatedCategory],
  parent: string | null,
): object => ({
  id,
  name: category.name,
  project_version_id: workspace,
  parent_category_id: parent,
  hidden: category.hidden ?? false,
  articles: Object.entries(category.articles ?? {}).map(([at, article]) => articleJson(at, article)),
  child_categories: Object.entries(category.categories ?? {}).map((child) => categoryJson(workspace, child, id)),
  created_at: stamp(),
  modified_at: stamp(),
});
function findArticle(categories: Record<string, EmulatedCategory>, id: string): EmulatedArticle | null {
  for (const { articles = {}, categories: inside = {} } of Object.values(categories)) {
    const found = (Object.hasOwn(articles, id) ? articles[id] : null) ?? findArticle(inside, id);
    if (found) return found;
  }
  return null;
}

export async function startDocument360(): Promise<Document360Emulator> {
  const workspaces = new Map<string, EmulatedWorkspace>();
  const tokens = new Set([TOKEN]);
  const emulator = await startEmulator<D360Refused>({
    refuse,
    admit({ request, response }) {
      if (tokens.has(String(request.headers['api_token']))) return true;
      refuse(response, { status: 401 });
      return false;
    },
    answer({ response, query, path: [version, resource, id = '', last = ''] }) {
      const missing = (): void => refuse(response, { status: 404 });
      if (version !== 'v2') return missing();
      if (resource === 'ProjectVersions' && id === '')
        return sendJson(
          response,
          200,
          enveloped(
            [...workspaces].map(([at, { name, language = 'en' }], index) => ({
              id: at,
              version_number: index + 1,
              version_code_name: name,
              is_main_version: index === workspaces.size - 1,
              created_at: stamp(index),
              language_versions: [
                { code: 'xx', set_as_default: false },
                { code: language, set_as_default: true },
              ],
            })),
          ),
        );
      const workspace = workspaces.get(id);
      if (resource === 'ProjectVersions') {
        if (!workspace || last !== 'categories') return missing();
        return sendJson(
          response,
          200,
          enveloped(Object.entries(workspace.categories).map((entry) => categoryJson(id, entry, null))),
        );
      }
      if (resource !== 'Articles') return missing();
      for (const { categories, language = 'en' } of workspaces.values()) {
        const article = language === last ? findArticle(categories, id) : null;
        if (!article) continue;
        const isPublishedView = query.get('isPublished') === 'true' && query.get('isForDisplay') === 'true';
        return sendJson(
          response,
          200,
          enveloped({
            ...articleJson(id, article),
            category_id: 'c',
            html_content:
              article.markdown === undefined ? `${article.html}${isPublishedView ? '' : ' {{draft}}'}` : null,
            content: article.markdown ?? null,
          }),
        );
      }
      return missing();
    },
  });
  return { ...emulator, workspaces, tokens, settings: `DOCUMENT360.api=${emulator.origin}` };
}
