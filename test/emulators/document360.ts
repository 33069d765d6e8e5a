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
/** Returns a time in Document360's format: UTC without a time zone. */
const stamp = (number = 0): string => new Date(CREATED_AT + number * 60_000).toISOString().slice(0, 19);
const ENVELOPE = { extension_data: null, success: true, errors: [], warnings: [], information: [] };
const enveloped = (data: unknown) => ({ data, ...ENVELOPE });
const errorOf = (description: string) => ({
  ...{ extension_data: null, stack_trace: null, description, error_code: null, custom_data: null },
});
const refuse = (response: ServerResponse, { status, headers = {}, body }: D360Refused): void =>
  sendJson(response, status, body ?? { ...ENVELOPE, success: false, errors: [errorOf('no')] }, headers);
/** Refuses an unknown id as in the examples of the specification: status 400, although `success` is true. */
const refuseUnknown = (response: ServerResponse, what: string): void =>
  sendJson(response, 400, { ...ENVELOPE, errors: [errorOf(`${what} not found`)] });

/** Returns the fields that an article has both in a listing and alone. */
const articleJson = (id: string, { title, published = 1, hidden = false, markdown }: EmulatedArticle) => ({
  id,
  title,
  public_version: published,
  latest_version: Math.max(1, published),
  hidden,
  status: published === 0 ? 0 : 3,
  order: 1,
  slug: id,
  content_type: markdown === undefined ? 1 : 0,
  translation_option: 0,
  is_shared_article: false,
  modified_at: stamp(published),
});
const listedArticleJson = (id: string, article: EmulatedArticle) => ({
  ...articleJson(id, article),
  language_code: null,
});
/** @param isPublishedView whether the published version is requested, with its variables replaced */
const openedArticleJson = (id: string, article: EmulatedArticle, isPublishedView: boolean) => ({
  ...articleJson(id, article),
  content: article.markdown ?? null,
  html_content: article.markdown === undefined ? `${article.html}${isPublishedView ? '' : ' {{draft}}'}` : null,
  ...{ category_id: 'c', project_version_id: 'w1', version_number: article.published ?? 1, enable_rtl: false },
  ...{ created_by: 'u1', authors: [], created_at: stamp(), is_fall_back_content: false, description: null },
  ...{ category_type: null, url: `https://docs.example/v1/docs/${id}` },
});
const categoryJson = (
  workspace: string,
  [id, category]: [string, EmulatedCategory],
  parent: string | null,
): object => ({
  id,
  name: category.name,
  ...{ description: null, order: 1, icon: null, slug: id, language_code: null },
  ...{ category_type: 0, status: null, content_type: null },
  project_version_id: workspace,
  parent_category_id: parent,
  hidden: category.hidden ?? false,
  articles: Object.entries(category.articles ?? {}).map(([at, article]) => listedArticleJson(at, article)),
  child_categories: Object.entries(category.categories ?? {}).map((child) => categoryJson(workspace, child, id)),
  created_at: stamp(),
  modified_at: stamp(),
});
function findArticle(categories: Record<string, EmulatedCategory>, id: string): EmulatedArticle | null {
  for (const { articles = {}, categories: subcategories = {} } of Object.values(categories)) {
    const found = (Object.hasOwn(articles, id) ? articles[id] : null) ?? findArticle(subcategories, id);
    if (found) return found;
  }
  return null;
}

const languageJson = (code: string, isDefault: boolean) => ({
  ...{ id: code, name: code, code, set_as_default: isDefault, hidden: false, enable_rtl: false },
  ...{ site_protection_level: 0, is_inheritance_disabled: false, country_flag_code: null, display_name: null },
  ...{ has_inheritance_disabled_categories_or_articles: false, is_home_page_enabled: false },
  version_display_name: null,
});
/**
 * @param index position of the workspace, the oldest first
 * @param isMain whether it is the main version, which readers see by default
 */
const workspaceJson = (
  id: string,
  { name, language = 'en' }: EmulatedWorkspace,
  { index, isMain }: { readonly index: number; readonly isMain: boolean },
) => ({
  ...{ id, version_number: index + 1, base_version_number: 0, version_code_name: name, is_main_version: isMain },
  ...{ is_beta: false, is_public: true, is_deprecated: false, slug: id, order: index, version_type: 0 },
  ...{ created_at: stamp(index), modified_at: stamp(index) },
  language_versions: [languageJson('xx', false), languageJson(language, true)],
});

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
      if (version !== 'v2') return refuse(response, { status: 404 });
      if (resource === 'ProjectVersions' && id === '') {
        const all = [...workspaces].map(([at, workspace], index) =>
          workspaceJson(at, workspace, { index, isMain: index === workspaces.size - 1 }),
        );
        return sendJson(response, 200, enveloped(all));
      }
      if (resource === 'ProjectVersions') {
        const workspace = workspaces.get(id);
        if (last !== 'categories') return refuse(response, { status: 404 });
        if (!workspace) return refuseUnknown(response, 'Project version');
        const all = Object.entries(workspace.categories).map((entry) => categoryJson(id, entry, null));
        return sendJson(response, 200, enveloped(all));
      }
      if (resource !== 'Articles') return refuse(response, { status: 404 });
      for (const { categories, language = 'en' } of workspaces.values()) {
        const article = language === last ? findArticle(categories, id) : null;
        if (!article) continue;
        const isPublishedView = query.get('isPublished') === 'true' && query.get('isForDisplay') === 'true';
        return sendJson(response, 200, enveloped(openedArticleJson(id, article, isPublishedView)));
      }
      return refuseUnknown(response, 'Article');
    },
  });
  return { ...emulator, workspaces, tokens, settings: `DOCUMENT360.api=${emulator.origin}` };
}
