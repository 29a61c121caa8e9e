import type { DicomDestination } from '../../config/schema.ts';
import { type Specialty, specialtyOf } from '../concepts/specialty.ts';

type ObjectRole = DicomDestination['objects'][number];

/** Specialty of each report whose template is specific to one. All other objects fit any result. */
const SPECIALTY_OF: Partial<Record<ObjectRole, Specialty>> = {
  'sr-tid5000': 'obstetric',
  'sr-echo': 'echo',
};

/**
 * Returns true if an object can be made from the results of an endpoint (`us/obstetric/interpret`).
 */
export function objectFits(object: ObjectRole, endpoint: string): boolean {
  const specialty = SPECIALTY_OF[object];
  return specialty === undefined || specialty === specialtyOf(endpoint);
}
