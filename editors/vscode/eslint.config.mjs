// What eslint holds the extension to, on top of what the compiler does.
import eslint from "@eslint/js";
import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["dist/", "out/", "node_modules/"] },
  eslint.configs.recommended,
  {
    files: ["**/*.ts"],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: {
      parserOptions: {
        project: ["./tsconfig.json", "./tsconfig.page.json", "./tsconfig.test.json"],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      curly: "error",
      eqeqeq: ["error", "always", { null: "ignore" }],
      "@typescript-eslint/dot-notation": "off", // the compiler wants brackets for what has no declared name
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
      "@typescript-eslint/no-non-null-assertion": "off", // of what is there by the line above, or by the pattern
      "@typescript-eslint/unbound-method": "off", // node:path and its like
      "@typescript-eslint/no-unsafe-class-instance-assignment": "off", // VS Code's Disposable is a shape to us
      "@typescript-eslint/no-misused-spread": "off", // of texts, into their characters
      "@typescript-eslint/no-unnecessary-type-parameters": "off", // answers of commands are of the caller's type
      "@typescript-eslint/prefer-readonly": "error",
    },
  },
  {
    files: ["test/**/*.ts"],
    rules: { "@typescript-eslint/no-floating-promises": ["error", { allowForKnownSafeCalls: ["test", "suite"] }] },
  },
  { files: ["**/*.mjs"], languageOptions: { globals: { process: "readonly", console: "readonly" } } },
);
