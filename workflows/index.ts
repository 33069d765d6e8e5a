/** The registration: every workflow the worker knows. The name of the export is the workflow's type. */
export { scrapeSitemap } from './scrapeSitemap.js';
