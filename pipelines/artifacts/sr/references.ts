import type { Measurement } from '../../result/envelope.ts';
import type { SourceInstance, Subject } from '../subject.ts';
import { type ContentItem, type ImageReference, walk } from './content-item.ts';

/** The source image of a measurement; null where it came from no DICOM image. */
export function instanceOf(measurement: Measurement, subject: Subject): SourceInstance | null {
  const { sop_instance_uid: uid, file } = measurement.source;
  const match = uid
    ? subject.instances.find((instance) => instance.sopInstanceUid === uid)
    : subject.instances.find((instance) => file !== null && instance.file === file);
  return match ?? null;
}

/** Referenced Frame Number is for multi-frame images only (PS3.3 10.3). */
export function referenceTo(instance: SourceInstance, frame: number | null): ImageReference {
  return {
    sopClassUid: instance.sopClassUid,
    sopInstanceUid: instance.sopInstanceUid,
    frame: instance.numberOfFrames > 1 ? frame : null,
  };
}

/** The images that a tree refers to, each once, in the order of the subject's instances. */
export function referencedInstances(tree: ContentItem, subject: Subject): SourceInstance[] {
  const referenced = new Set<string>();
  for (const { value } of walk(tree)) {
    if (value.type === 'IMAGE') referenced.add(value.image.sopInstanceUid);
  }
  return subject.instances.filter((instance) => referenced.has(instance.sopInstanceUid));
}
