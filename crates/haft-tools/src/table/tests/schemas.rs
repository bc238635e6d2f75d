//! The schemas of the built-in tools, as models are told them.

use expect_test::expect;

use crate::testing::Bench;

#[test]
fn schemas_are_what_models_know() {
    let schemas: Vec<String> = Bench::new()
        .all_definitions()
        .iter()
        .map(|tool| format!("{}\n{}\n", tool.name, serde_json::to_string_pretty(&*tool.input).unwrap()))
        .collect();
    expect![[r#"
        invalid
        {
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "tool": {
              "type": "string",
              "description": "The name of the tool that was called."
            },
            "error": {
              "type": "string",
              "description": "What was wrong with the call."
            }
          },
          "required": [
            "tool",
            "error"
          ]
        }

        question
        {
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "questions": {
              "type": "array",
              "items": {
                "type": "object",
                "properties": {
                  "question": {
                    "description": "The whole question.",
                    "type": "string"
                  },
                  "header": {
                    "description": "A very short label for it, of at most 30 characters.",
                    "type": "string"
                  },
                  "options": {
                    "description": "What can be chosen.",
                    "type": "array",
                    "items": {
                      "type": "object",
                      "properties": {
                        "label": {
                          "description": "What is shown, in one to five words.",
                          "type": "string"
                        },
                        "description": {
                          "description": "What choosing it means.",
                          "type": "string"
                        }
                      },
                      "required": [
                        "label",
                        "description"
                      ]
                    }
                  },
                  "multiple": {
                    "description": "Whether several can be chosen.",
                    "type": "boolean"
                  }
                },
                "required": [
                  "question",
                  "header",
                  "options"
                ]
              },
              "description": "The questions to ask.",
              "minItems": 1
            }
          },
          "required": [
            "questions"
          ]
        }

        bash
        {
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "command": {
              "type": "string",
              "description": "The script to run."
            },
            "timeout": {
              "type": "integer",
              "description": "How long it may take, in milliseconds. Two minutes unless given."
            },
            "workdir": {
              "type": "string",
              "description": "The directory to run it in: absolute, or relative to the working directory, which it is unless given."
            },
            "description": {
              "type": "string",
              "description": "What it does, in five to ten words."
            },
            "network": {
              "description": "The hosts it needs, as example.com, *.example.com or example.com:8443, which the user is asked for; or true for the whole network.",
              "anyOf": [
                {
                  "type": "boolean"
                },
                {
                  "type": "array",
                  "items": {
                    "type": "string"
                  }
                }
              ]
            },
            "writable": {
              "type": "array",
              "items": {
                "type": "string"
              },
              "description": "Files and directories outside the workspace that it changes, which the user is asked for."
            },
            "background": {
              "type": "boolean",
              "description": "Whether it goes on in the background while other calls are made."
            },
            "pty": {
              "type": "boolean",
              "description": "Whether it needs a terminal."
            }
          },
          "required": [
            "command"
          ]
        }

        jobs
        {
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "action": {
              "type": "string",
              "enum": [
                "list",
                "read",
                "wait",
                "write",
                "kill"
              ],
              "description": "What to do."
            },
            "id": {
              "type": "string",
              "description": "The job; every action but list needs it."
            },
            "input": {
              "type": "string",
              "description": "With write: what to send."
            },
            "close": {
              "type": "boolean",
              "description": "With write: whether the job's input ends there."
            },
            "timeout": {
              "type": "integer",
              "minimum": 0,
              "description": "With wait: how long at most, in milliseconds."
            }
          },
          "required": [
            "action"
          ]
        }

        read
        {
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "filePath": {
              "type": "string",
              "description": "The path of the file or directory to read: absolute, or relative to the working directory."
            },
            "offset": {
              "type": "integer",
              "minimum": 0,
              "description": "The line, or entry of a directory, to start from. The first is 1."
            },
            "limit": {
              "type": "integer",
              "minimum": 0,
              "description": "How many lines or entries to read at most; 2000 if left out."
            }
          },
          "required": [
            "filePath"
          ]
        }

        glob
        {
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "pattern": {
              "type": "string",
              "description": "The glob pattern to match files against."
            },
            "path": {
              "type": "string",
              "description": "The directory to search: absolute, or relative to the working directory. Leave it out for the working directory."
            }
          },
          "required": [
            "pattern"
          ]
        }

        grep
        {
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "pattern": {
              "type": "string",
              "description": "The regular expression to search for."
            },
            "path": {
              "type": "string",
              "description": "The directory or file to search: absolute, or relative to the working directory. Leave it out for the working directory."
            },
            "include": {
              "type": "string",
              "description": "A glob that names of files must match, such as `*.rs` or `*.{ts,tsx}`."
            }
          },
          "required": [
            "pattern"
          ]
        }

        edit
        {
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "filePath": {
              "type": "string",
              "description": "The path of the file to edit: absolute, or relative to the working directory."
            },
            "oldString": {
              "type": "string",
              "description": "The text to replace, as it is in the file. Empty to create a file."
            },
            "newString": {
              "type": "string",
              "description": "The text to put in its place, which must be different."
            },
            "replaceAll": {
              "type": "boolean",
              "description": "Whether to replace every occurrence; otherwise there must be exactly one."
            }
          },
          "required": [
            "filePath",
            "oldString",
            "newString"
          ]
        }

        write
        {
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "content": {
              "type": "string",
              "description": "The whole content of the file, exactly as it is to be."
            },
            "filePath": {
              "type": "string",
              "description": "The path of the file to write: absolute, or relative to the working directory."
            }
          },
          "required": [
            "content",
            "filePath"
          ]
        }

        list
        {
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "path": {
              "type": "string",
              "description": "The directory to list: absolute, or relative to the working directory. Leave it out for the working directory."
            },
            "ignore": {
              "type": "array",
              "items": {
                "type": "string"
              },
              "description": "Further glob patterns of what to leave out, such as `*.log` or `fixtures/`."
            }
          }
        }

        task
        {
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "description": {
              "type": "string",
              "description": "What is to be done, in three to five words."
            },
            "prompt": {
              "type": "string",
              "description": "The task. The agent knows nothing but this: say all that it needs, and what it is to report."
            },
            "subagent_type": {
              "type": "string",
              "description": "The name of the agent."
            },
            "command": {
              "type": "string",
              "description": "The command that led to this task."
            },
            "task_id": {
              "type": "string",
              "description": "The id of an earlier task, to go on with it instead of beginning anew."
            },
            "background": {
              "type": "boolean",
              "description": "Whether to go on at once; what comes of the task is told later."
            }
          },
          "required": [
            "description",
            "prompt",
            "subagent_type"
          ]
        }

        webfetch
        {
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "url": {
              "type": "string",
              "description": "The address to fetch, beginning with http:// or https://."
            },
            "format": {
              "type": "string",
              "enum": [
                "markdown",
                "text",
                "html"
              ],
              "description": "What a page becomes: markdown unless given."
            },
            "timeout": {
              "type": "number",
              "description": "How long it may take, in seconds: 30 unless given, at most 120."
            },
            "main": {
              "type": "boolean",
              "description": "Whether only the main content of a page is wanted."
            }
          },
          "required": [
            "url"
          ]
        }

        todowrite
        {
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "todos": {
              "type": "array",
              "items": {
                "description": "One thing to do.",
                "type": "object",
                "properties": {
                  "content": {
                    "description": "What is to be done, in a few words.",
                    "type": "string"
                  },
                  "status": {
                    "description": "How far it is: pending, in_progress, completed or cancelled.",
                    "type": "string"
                  },
                  "priority": {
                    "description": "How important it is: high, medium or low.",
                    "type": "string"
                  }
                },
                "required": [
                  "content",
                  "status",
                  "priority"
                ]
              },
              "description": "The whole list as it is to be from now on, in order."
            }
          },
          "required": [
            "todos"
          ]
        }

        todoread
        {
          "type": "object",
          "additionalProperties": false
        }

        websearch
        {
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "query": {
              "type": "string",
              "description": "What to look for."
            },
            "numResults": {
              "type": "integer",
              "minimum": 1,
              "description": "How many pages to return.",
              "maximum": 20
            },
            "livecrawl": {
              "type": "string",
              "enum": [
                "fallback",
                "preferred"
              ],
              "description": "Whether stored copies of pages will do."
            },
            "type": {
              "type": "string",
              "enum": [
                "auto",
                "fast",
                "deep"
              ],
              "description": "How thorough to be."
            },
            "contextMaxCharacters": {
              "type": "integer",
              "minimum": 1,
              "description": "How much to return, in characters.",
              "maximum": 50000
            }
          },
          "required": [
            "query"
          ]
        }

        codesearch
        {
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "query": {
              "type": "string",
              "description": "A few words that say what to look for: a library, a type or function, what it is to do."
            },
            "tokensNum": {
              "type": "integer",
              "minimum": 1000,
              "description": "How much to show, in tokens.",
              "maximum": 50000
            }
          },
          "required": [
            "query"
          ]
        }

        skill
        {
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "name": {
              "type": "string",
              "description": "The name of the skill."
            }
          },
          "required": [
            "name"
          ]
        }

        apply_patch
        {
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "patchText": {
              "type": "string",
              "description": "The whole patch, from `*** Begin Patch` to `*** End Patch`."
            }
          },
          "required": [
            "patchText"
          ]
        }

        patch
        {
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "patchText": {
              "type": "string",
              "description": "The whole patch, from `*** Begin Patch` to `*** End Patch`."
            }
          },
          "required": [
            "patchText"
          ]
        }

        lsp
        {
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "operation": {
              "oneOf": [
                {
                  "type": "string",
                  "const": "goToDefinition",
                  "description": "Where a symbol is defined."
                },
                {
                  "type": "string",
                  "const": "findReferences",
                  "description": "Where a symbol is used."
                },
                {
                  "type": "string",
                  "const": "hover",
                  "description": "The documentation and type of a symbol."
                },
                {
                  "type": "string",
                  "const": "documentSymbol",
                  "description": "The symbols of a file."
                },
                {
                  "type": "string",
                  "const": "workspaceSymbol",
                  "description": "The symbols of the project."
                },
                {
                  "type": "string",
                  "const": "goToImplementation",
                  "description": "What implements an interface or an abstract method."
                },
                {
                  "type": "string",
                  "const": "prepareCallHierarchy",
                  "description": "The item of the call hierarchy at a place."
                },
                {
                  "type": "string",
                  "const": "incomingCalls",
                  "description": "What calls the function at a place."
                },
                {
                  "type": "string",
                  "const": "outgoingCalls",
                  "description": "What the function at a place calls."
                }
              ],
              "description": "What to ask."
            },
            "filePath": {
              "type": "string",
              "description": "The file: absolute, or relative to the working directory."
            },
            "line": {
              "type": "integer",
              "minimum": 1,
              "description": "The line, counted from 1."
            },
            "character": {
              "type": "integer",
              "minimum": 1,
              "description": "The character in the line, counted from 1."
            },
            "query": {
              "type": "string",
              "description": "What names of symbols must match, for workspaceSymbol; leave it out for all that the server tells."
            }
          },
          "required": [
            "operation",
            "filePath",
            "line",
            "character"
          ]
        }

        batch
        {
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "tool_calls": {
              "type": "array",
              "items": {
                "type": "object",
                "properties": {
                  "tool": {
                    "description": "The name of the tool.",
                    "type": "string"
                  },
                  "parameters": {
                    "description": "What the tool is given.",
                    "type": "object",
                    "additionalProperties": true
                  }
                },
                "additionalProperties": false,
                "required": [
                  "tool",
                  "parameters"
                ]
              },
              "description": "The calls to make, 25 at most.",
              "minItems": 1
            }
          },
          "required": [
            "tool_calls"
          ]
        }

        plan_exit
        {
          "type": "object",
          "additionalProperties": false
        }

        plan_enter
        {
          "type": "object",
          "additionalProperties": false
        }

        undo
        {
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "calls": {
              "type": "array",
              "items": {
                "type": "string"
              },
              "description": "The calls whose changes are to be taken back."
            }
          },
          "required": [
            "calls"
          ]
        }
    "#]].assert_eq(&schemas.join("\n"));
}
