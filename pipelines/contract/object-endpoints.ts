import type { DicomDestination } from '../../config/schema.ts';

type ObjectRole = DicomDestination['objects'][number];

/**
 * First two parts of the endpoint id, for each report whose template is specific to one kind of
 * examination. All other objects fit any result.
 */
const MODEL_OF: Partial<Record<ObjectRole, string>> = {
  'sr-tid5000': 'us/obstetric',
  'sr-echo': 'us/echo',
};

/**
 * Returns true if an object can be made from the results of an endpoint (`us/obstetric/interpret`).
 */
export function objectFits(object: ObjectRole, endpoint: string): boolean {
  const model = MODEL_OF[object];
  return model === undefined || endpoint.startsWith(`${model}/`);
}
