# compile_together(TARGET FOLDER...): the target's files of each of these folders of src/ are compiled several at once,
# which is faster where they share most of what they compile to (JSON, formatting, readers). ZTP_UNITY=OFF compiles each
# file by itself and so finds a missing #include.
function(compile_together target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${ZTP_UNITY} UNITY_BUILD_MODE GROUP)
  get_target_property(files ${target} SOURCES)
  foreach(folder ${ARGN})
    set(count 0)
    foreach(file ${files})
      if(file MATCHES "/src/${folder}/[^/]+$")
        math(EXPR group "${count} / 10")
        math(EXPR count "${count} + 1")
        set_source_files_properties(${file} PROPERTIES UNITY_GROUP ${folder}_${group})
        # What is not hot is compiled in less time for the tests.
        if(folder MATCHES "^(diagnose|posterior|report|run|store)$")
          set_source_files_properties(
            ${PROJECT_BINARY_DIR}/CMakeFiles/${target}.dir/Unity/unity_${folder}_${group}_cxx.cxx
            PROPERTIES COMPILE_OPTIONS "$<$<CONFIG:RelWithDebInfo>:-O1>")
        endif()
      endif()
    endforeach()
  endforeach()
endfunction()
