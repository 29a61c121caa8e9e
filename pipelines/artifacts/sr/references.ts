import type { SourceInstance, Subject } from '../../dicom/subject.ts';
import type { Measurement } from '../../result/envelope.ts';
import { type ContentItem, container, type ImageReference, image, walk } from './content-item.ts';
import { SR } from './vocabulary.ts';

/**
 * Returns the images among the objects of a study. An IMAGE item must refer to an image SOP
 * instance (PS3.3 C.18.4); some readers reject a whole report if one of its IMAGE items refers to a
 * structured report or a PDF.
 */
function imagesOf(subject: Subject): SourceInstance[] {
  return subject.instances.filter(({ rows }) => rows > 0);
}

/** Returns every image of the study for an image library, including images without a finding. */
export function libraryImages(subject: Subject): ContentItem[] {
  return imagesOf(subject).map((instance) => image('CONTAINS', null, referenceTo(instance, null)));
}

/** Returns the image library of TID 5000 and TID 5200; empty for a study without images. */
export function imageLibrary(subject: Subject): ContentItem[] {
  const images = libraryImages(subject);
  return images.length === 0 ? [] : [container(SR.imageLibrary, images)];
}

interface MadeOn {
  source: Pick<Measurement['source'], 'sop_instance_uid' | 'file'>;
}

/**
 * Returns the source image of a measurement; null if its source is not a DICOM image, such as the
 * machine's structured report.
 */
export function instanceOf(
  { source: { sop_instance_uid: uid, file } }: MadeOn,
  subject: Subject,
): SourceInstance | null {
  const images = imagesOf(subject);
  const match = uid
    ? images.find((instance) => instance.sopInstanceUid === uid)
    : images.find((instance) => file !== null && instance.file === file);
  return match ?? null;
}

/**
 * Returns a reference to an image; Referenced Frame Number is allowed only for multi-frame images
 * (PS3.3 10.3).
 */
export function referenceTo(instance: SourceInstance, frame: number | null): ImageReference {
  return {
    sopClassUid: instance.sopClassUid,
    sopInstanceUid: instance.sopInstanceUid,
    frame: instance.numberOfFrames > 1 ? frame : null,
  };
}

/**
 * Returns the images that a tree references, each once, in the order of the subject's instances.
 */
export function referencedInstances(tree: ContentItem, subject: Subject): SourceInstance[] {
  const referenced = new Set<string>();
  for (const { value } of walk(tree)) {
    if (value.type === 'IMAGE') referenced.add(value.image.sopInstanceUid);
  }
  return subject.instances.filter((instance) => referenced.has(instance.sopInstanceUid));
}
