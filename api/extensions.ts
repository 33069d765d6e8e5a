/** What this server adds to the public contract, each with its reason. The comparison with the contract is empty but for this list. */
export const EXTENSIONS = {
  operations: {
    'GET /health': 'Older front-ends and load balancers call it.',
    'GET /ready': 'Operators see which dependency is away.',
    'GET /content/{organization}/{file}/{content}': 'Where presigned URLs point.',
    'GET /integrations/': 'Older front-ends list the connected data sources by it.',
    'DELETE /deletefile/{file_id}': 'Older front-ends delete one file by it.',
    'POST /cancel_sync': 'The contract has no way to stop a scrape.',
  },
  fields: {
    'scrape_sitemap.embedding_model null': 'Shipped front-ends send null; it means OPENAI.',
    'web_scrape.[].embedding_model null': 'As for scrape_sitemap.',
    'embedding_properties.<MODEL>.served_by and dimensions': 'Tell which vector space served the model.',
  },
  headers: {
    'Idempotency-Key': 'Of POSTs that create work: a client that got no answer can ask again without doing it twice.',
    'Idempotent-Replayed': 'Tells that an answer is that of an earlier request with the key.',
    'X-Request-Id': 'Names the request in the log.',
  },
  statuses:
    '400, 401, 403, 404, 409, 413, 415 and 429 with {detail} are described beside 200 and 422; 501 answers what is not built yet.',
} as const;
