import { UnreadableInput } from '../../contract/study.ts';
import { SECONDARY_CAPTURES, STORAGE_CLASS, ULTRASOUND_IMAGES } from '../../dicom/sop-classes.ts';

const REFUSED: Readonly<Record<string, string>> = {
  [STORAGE_CLASS.enhancedUltrasoundVolume]:
    'Enhanced US Volume is not supported: its slices are resampled from a volume, and no measurement here is made for them',
  [STORAGE_CLASS.photoacoustic]: 'Photoacoustic images are not ultrasound images',
  [STORAGE_CLASS.rawData]: 'raw data of the manufacturer cannot be read',
  [STORAGE_CLASS.presentationState]: 'a presentation state holds no image',
  [STORAGE_CLASS.encapsulatedPdf]: 'an encapsulated PDF holds no image',
  [STORAGE_CLASS.keyObjects]: 'a key object selection holds no image',
};

/**
 * Checks the SOP class of an object.
 *
 * @throws UnreadableInput for an object that is not a two-dimensional ultrasound image.
 */
export function checkSopClass(sopClassUid: string): void {
  if (ULTRASOUND_IMAGES.has(sopClassUid) || SECONDARY_CAPTURES.has(sopClassUid)) return;
  throw new UnreadableInput(
    REFUSED[sopClassUid] ??
      `the object is not an ultrasound image (SOP class ${sopClassUid || 'missing'})`,
  );
}
