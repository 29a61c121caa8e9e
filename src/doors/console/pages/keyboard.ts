export interface KeyBinding {
  /** Value of `KeyboardEvent.key`. */
  key: string;
  does: string;
  run(): void;
}

/** Whether the target is a field that itself uses the keys. */
function takesText(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !['checkbox', 'radio'].includes(target.type);
  return target.isContentEditable || /^(TEXTAREA|SELECT)$/.test(target.tagName);
}

/** Whether the target is a control that itself uses Enter and the space bar. */
function takesActivation(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && /^(A|BUTTON|SUMMARY|INPUT)$/.test(target.tagName);
}

/**
 * Returns the binding for a key press. Returns null if a modifier key is pressed, if the person is
 * typing in a field, or if the focused control uses the key itself.
 */
export function bindingFor(
  event: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'target'>,
  bindings: readonly KeyBinding[],
): KeyBinding | null {
  if (event.ctrlKey || event.metaKey || event.altKey || takesText(event.target)) return null;
  const activates = event.key === 'Enter' || event.key === ' ';
  if (activates && takesActivation(event.target)) return null;
  return bindings.find(({ key }) => key === event.key) ?? null;
}

/**
 * Listens for key presses and runs the bindings that are current at that moment.
 * @param draw is called after each action, before the next key press: if the action opens a field,
 *   the next letters must go to the field rather than to other bindings.
 */
export function startKeyboard(bindings: () => readonly KeyBinding[], draw: () => void): void {
  document.addEventListener('keydown', (event) => {
    const binding = bindingFor(event, bindings());
    if (!binding || event.defaultPrevented) return;
    event.preventDefault();
    binding.run();
    draw();
  });
}
