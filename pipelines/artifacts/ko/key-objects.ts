import type { Subject } from '../../dicom/subject.ts';
import type { Result } from '../../result/envelope.ts';
import { noticeOf } from '../../result/render/statement.ts';
import { keyOverlays, overlaysOf } from '../previews/overlays.ts';
import { type ContentItem, image, root, text } from '../sr/content-item.ts';
import { encode } from '../sr/encode.ts';
import { evidenceOf, keyObjectHeader, languageItem, observerItems } from '../sr/header.ts';
import { instanceOf, referenceTo } from '../sr/references.ts';
import { SR } from '../sr/vocabulary.ts';

/**
 * Returns the frames that a reader should see first. Each of them shows a quantity that the frames
 * before it do not show.
 */
function keyImages(result: Result, subject: Subject): ContentItem[] {
  return keyOverlays(overlaysOf(result.measurements)).flatMap(({ frame, measurements }) => {
    const [measured] = measurements;
    const instance = measured && instanceOf(measured, subject);
    return instance ? [image('CONTAINS', null, referenceTo(instance, frame))] : [];
  });
}

/**
 * Writes the measured frames as a Key Object Selection (PS3.3 A.35.4, PS3.16 TID 2010) titled "Of
 * Interest".
 * @returns a DICOM Part 10 file; null if no frame of a DICOM image was measured.
 */
export function buildKeyObjects(result: Result, subject: Subject): Buffer | null {
  const images = keyImages(result, subject);
  if (images.length === 0) return null;
  const tree = root(SR.ofInterest, '2010', [
    languageItem(),
    ...observerItems(result),
    text(
      'CONTAINS',
      SR.keyObjectDescription,
      `${noticeOf(result)}: frames that ${result.endpoint} ${result.version} measured.`,
    ),
    ...images,
  ]);
  const header = {
    ...keyObjectHeader(result, subject, { series: 'ko', role: 'key-objects' }),
    ...evidenceOf(tree, subject),
  };
  return encode(header, tree);
}
