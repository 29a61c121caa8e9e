import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { isMap, isSeq, parseDocument } from 'yaml';

/**
 * Updates the checksum of every model in registry.yaml after an export. Comments in the file are
 * preserved.
 */
const file = new URL('registry.yaml', import.meta.url);
const registry = parseDocument(await readFile(file, 'utf8'));
const models = registry.get('models');
for (const model of isSeq(models) ? models.items : []) {
  if (!isMap(model)) continue;
  const bytes = await readFile(new URL(String(model.get('file')), import.meta.url));
  model.set('sha256', createHash('sha256').update(bytes).digest('hex'));
}
await writeFile(file, registry.toString({ lineWidth: 100 }));
