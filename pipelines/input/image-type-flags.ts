/** Flags of Image Type value 4, a hexadecimal sum (PS3.3 C.8.5.6.1.1). */
const FLAGS = [
  [0x0001, '2D'],
  [0x0002, 'M_MODE'],
  [0x0004, 'CW_DOPPLER'],
  [0x0008, 'PW_DOPPLER'],
  [0x0010, 'COLOR_DOPPLER'],
  [0x0020, 'COLOR_M_MODE'],
  [0x0040, '3D_RENDERING'],
  [0x0100, 'COLOR_POWER'],
  [0x0200, 'TISSUE_CHARACTERIZATION'],
  [0x0400, 'SPATIALLY_RELATED'],
] as const;

export type ImageTypeFlag = (typeof FLAGS)[number][1];

/** The modes that value 4 names; a hint that never overrides the region sequence. */
export function imageTypeFlags(value: string): ImageTypeFlag[] {
  const bits = /^[0-9A-F]{1,4}$/i.test(value.trim()) ? Number.parseInt(value, 16) : 0;
  return FLAGS.flatMap(([bit, name]) => ((bits & bit) === 0 ? [] : [name]));
}
