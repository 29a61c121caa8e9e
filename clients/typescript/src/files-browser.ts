import type { LocalFile } from './upload.ts';

/**
 * Browser counterparts of the functions in files-node.ts. A browser can open neither paths nor
 * environment variables.
 */
export async function filesAt(path: string): Promise<LocalFile[]> {
  throw new Error(`${path}: a browser cannot open a path; give a File`);
}

export async function save(folder: string): Promise<string> {
  throw new Error(`${folder}: a browser has no folders; use artifact()`);
}

export const environment = (_name: string): string | undefined => undefined;
