import { readFileSync } from 'node:fs';

const description = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
);

export const VERSION: string = description.version;
