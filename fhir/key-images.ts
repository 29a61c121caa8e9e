import { readFile } from 'node:fs/promises';
import type { Result } from '../pipelines/result/envelope.ts';
import type { KeyImage } from './report-context.ts';

/** Previews with calipers, by their name in the HTTP contract. */
const OVERLAY = /^overlay-.+\.png$/;

/**
 * The previews of a result as key images; one that is gone is left out.
 * @param artifactPath path of a stored artifact by its name.
 */
export async function keyImagesOf(
  result: Result,
  artifactPath: (name: string) => Promise<string | null>,
): Promise<KeyImage[]> {
  const titles = new Map(result.sections.map((section) => [section.id, section.title]));
  const images: KeyImage[] = [];
  for (const { name, media_type: contentType, section } of result.artifacts) {
    const path = OVERLAY.test(name) ? await artifactPath(name) : null;
    if (path === null) continue;
    const title = `${titles.get(section ?? '') ?? 'Measured frame'}, with calipers (AI draft)`;
    images.push({ name, title, contentType, data: await readFile(path) });
  }
  return images;
}
