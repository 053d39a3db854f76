// Finds and makes elements of the page.

/** The element, which must exist. */
export function find<E extends Element>(
  selector: string,
  kind: new () => E,
  within: ParentNode = document,
): E {
  const found = within.querySelector(selector);
  if (found instanceof kind) return found;
  throw new Error(`the page does not have ${selector}`);
}

/** Every element of a kind that matches the selector. */
export function findAll<E extends Element>(
  selector: string,
  kind: new () => E,
  within: ParentNode = document,
): E[] {
  return [...within.querySelectorAll(selector)].filter((one): one is E => one instanceof kind);
}

/** A new element with children. */
export function make<T extends keyof HTMLElementTagNameMap>(
  tag: T,
  attributes: Record<string, string>,
  ...children: (Node | string)[]
): HTMLElementTagNameMap[T] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}
