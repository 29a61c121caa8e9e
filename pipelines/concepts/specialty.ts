/** What an examination is about. Endpoints that interpret no examination have no specialty. */
export type Specialty = 'obstetric' | 'echo';

/** Specialty of each interpreting endpoint, by its id and by its model (api 2.3). */
const SPECIALTIES: ReadonlyMap<string, Specialty> = new Map([
  ['us/obstetric/interpret', 'obstetric'],
  ['us/obstetric', 'obstetric'],
  ['us/echo/interpret', 'echo'],
  ['us/echo', 'echo'],
]);

/** Returns the specialty of an endpoint, by its id or its model; null if it has none. */
export const specialtyOf = (endpoint: string | null): Specialty | null =>
  SPECIALTIES.get(endpoint ?? '') ?? null;
