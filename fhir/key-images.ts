import sharp from 'sharp';
import type { Result } from '../pipelines/result/envelope.ts';
import type { KeyImage } from './report-context.ts';

/** Previews with calipers, by their name in the HTTP contract. */
const OVERLAY = /^overlay-.+\.png$/;

/** An EHR shows a key image beside the text; the full size is in the PDF and at the HTTP API. */
const LONGEST_SIDE = 960;
const JPEG_QUALITY = 85;

/**
 * The previews of a result as key images, small enough for a transaction (tens of kilobytes each);
 * one that is gone is left out.
 * @param artifactPath path of a stored artifact by its name.
 */
export async function keyImagesOf(
  result: Result,
  artifactPath: (name: string) => Promise<string | null>,
): Promise<KeyImage[]> {
  const titles = new Map(result.sections.map((section) => [section.id, section.title]));
  const images: KeyImage[] = [];
  for (const { name, section } of result.artifacts) {
    const path = OVERLAY.test(name) ? await artifactPath(name) : null;
    if (path === null) continue;
    const title = `${titles.get(section ?? '') ?? 'Measured frame'}, with calipers (AI draft)`;
    images.push({ name, title, contentType: 'image/jpeg', data: await smallJpeg(path) });
  }
  return images;
}

function smallJpeg(path: string): Promise<Buffer> {
  return sharp(path)
    .resize(LONGEST_SIDE, LONGEST_SIDE, { fit: 'inside', withoutEnlargement: true })
    .jpeg({ quality: JPEG_QUALITY })
    .toBuffer();
}
